"""A model's folder as `serve --model_dir` names it: what it holds, and the settings that speak with it."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from polyvox.bundles.record import read_record
from polyvox.errors import BundleError

_COSYVOICE = {"cosyvoice3.yaml": "cosyvoice3", "cosyvoice2.yaml": "cosyvoice2"}
_SPEECH_LM = ("config.json", "tokenizer.json")


def settings_for(folder: Path, known: Collection[str], besides: Sequence[str] = ()) -> dict[str, Any]:
    """The settings for the model in a folder, told by its files; other models may be loaded besides.

    BundleError says what is wrong where the files are none of a known model.
    """
    if not folder.is_dir():
        raise BundleError(f"There is no folder {folder}; --model_dir takes the place of a model's files on this disk.")
    for name, model in _COSYVOICE.items():
        if (folder / name).is_file():
            return _speaking(model, besides) | {f"{model}_dir": folder}
    if (folder / "cosyvoice.yaml").is_file():
        raise BundleError(
            f"{folder} holds CosyVoice 1, which is not supported; use CosyVoice2-0.5B or Fun-CosyVoice3-0.5B."
        )
    record = read_record(folder)
    if record is not None and record.name in known and record.name == folder.resolve().name:
        return _speaking(record.name, besides) | {"models_dir": folder.resolve().parent}
    if all((folder / name).is_file() for name in _SPEECH_LM):
        return _speaking("speechlm", besides) | {"speechlm_dir": folder}
    raise BundleError(
        f"{folder} holds no model that is known: neither CosyVoice's YAML file, nor what `polyvox pull` installs, nor "
        "config.json and tokenizer.json of a codec language model."
    )


def _speaking(model: str, besides: Sequence[str]) -> dict[str, Any]:
    return {"models": list(dict.fromkeys((model, *besides))), "default_model": model}
