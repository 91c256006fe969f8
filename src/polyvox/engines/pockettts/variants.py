"""The released models of the family: their names, languages, and configurations in their makers' schema.

A release has no file of its sizes; they are the same for all languages, and a few for the small models. A folder with a
`config.yaml` in that schema, such as those of other makers, is read by that instead.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

_ENGLISH_MARKS = {"’": "'", "‘": "'"}
_SMALL_MARKS = _ENGLISH_MARKS | {"–": ",", "—": ","}
_OTHER_MARKS = _ENGLISH_MARKS | dict.fromkeys('"“”„«»()[]', "") | {"–": ","}


def _transformer(width: int, heads: int, layers: int, hidden: int, window: int) -> dict[str, Any]:
    return {
        "d_model": width,
        "num_heads": heads,
        "num_layers": layers,
        "layer_scale": 0.01,
        "context": window,
        "dim_feedforward": hidden,
        "input_dimension": width,
        "output_dimensions": [width],
    }


def _seanet(width: int, filters: int, kernel: int) -> dict[str, Any]:
    return {
        "dimension": width,
        "n_filters": filters,
        "n_residual_layers": 1,
        "ratios": [6, 5, 4],
        "kernel_size": kernel,
        "residual_kernel_size": 3,
        "last_kernel_size": 3,
        "compress": 2,
    }


_MIMI = {
    "sample_rate": 24_000,
    "frame_rate": 12.5,
    "inner_dim": 32,
    "seanet": _seanet(512, 64, 7),
    "transformer": _transformer(512, 8, 2, 2048, 250),
    "quantizer": {"dimension": 32, "output_dimension": 512},
}


def _lm(
    width: int, heads: int, layers: int, flow: Mapping[str, object], table: Mapping[str, object], **more: object
) -> dict[str, Any]:
    sizes = {"d_model": width, "num_heads": heads, "num_layers": layers, "hidden_scale": 1, "max_period": 10_000}
    condition = more.pop("z_dim", None)
    return {
        "insert_bos_before_voice": True,
        "flow": dict(flow),
        "transformer": sizes | more,
        "lookup_table": {"dim": width, "n_bins": 4000, **table},
        "z_dim": condition,
    }


def _full() -> dict[str, Any]:
    flow = {"dim": 512, "depth": 6, "type": "lsd"}
    return {"flow_lm": _lm(1024, 16, 6, flow, {}, hidden_scale=4), "mimi": _MIMI}


def _small(lm: dict[str, Any], filters: int, layers: int) -> dict[str, Any]:
    own = {
        "quantizer": {"dimension": 32, "output_dimension": 128},
        "decoder_seanet": _seanet(128, filters, 3),
        "decoder_transformer": _transformer(128, 4, layers, 384, 50),
    }
    return {
        "flow_lm": lm,
        "mimi": _MIMI | own,
        "replace_characters": _SMALL_MARKS,
        "default_eos_threshold": -1.0,
    }


_DRIFTING = {"dim": 192, "depth": 4, "type": "drifting"}
_SMALL: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {
        "18m": lambda: _small(_lm(512, 8, 8, _DRIFTING, {}, z_dim=64), 32, 12),
        "7m": lambda: _small(_lm(224, 8, 8, _DRIFTING, {"rank": 64}, attn_dim=512, num_kv_heads=2, z_dim=64), 32, 12),
        "2m": lambda: _small(
            _lm(
                112,
                3,
                8,
                {"dim": 64, "depth": 4, "type": "pointwise"},
                {"rank": 32},
                attn_dim=192,
                num_kv_heads=1,
                dim_feedforward=96,
                z_dim=64,
            ),
            24,
            4,
        ),
    }
)
_LANGUAGES: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "en": {"replace_characters": _ENGLISH_MARKS},
        "fr": {"replace_characters": _OTHER_MARKS | {":": ","}, "remove_semicolons": True},
        "de": {"replace_characters": _OTHER_MARKS | {"—": ","}, "remove_semicolons": True},
        "it": {"replace_characters": _OTHER_MARKS},
        "pt": {"replace_characters": _OTHER_MARKS},
        "es": {"replace_characters": _OTHER_MARKS | {"¡": "", "¿": ""}},
        "nl": {"replace_characters": _OTHER_MARKS},
    }
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One released model; without `cloning`, its makers left out what voices are cloned with."""

    name: str
    language: str
    size: str = ""
    """Of a small model: `18m`, `7m` or `2m`."""
    cloning: bool = True

    @property
    def config(self) -> dict[str, Any]:
        """Its configuration, in its makers' schema."""
        return _SMALL[self.size]() if self.size else _full() | _LANGUAGES[self.language]


VARIANTS = MappingProxyType(
    {
        variant.name: variant
        for variant in (
            Variant("pockettts", "en"),
            Variant("pockettts-open", "en", cloning=False),
            *(Variant(f"pockettts-{size}", "en", size) for size in _SMALL),
            *(Variant(f"pockettts-{language}", language) for language in _LANGUAGES if language != "en"),
        )
    }
)
