"""Our networks of Qwen3-TTS with the tiny weights that the original was recorded on, and what it computed."""

import json
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from helpers.cosyvoice_golden import lasting
from polyvox.models.qwen3tts.codec_config import TokenizerConfig
from polyvox.models.qwen3tts.codec_decoder import CodecDecoder, load_codec_decoder
from polyvox.models.qwen3tts.codec_encoder import CodecEncoder, load_codec_encoder
from polyvox.models.qwen3tts.config import Qwen3TtsConfig
from polyvox.models.qwen3tts.input_rows import AUTO, InputRowBuilder, InputRows, Reference
from polyvox.models.qwen3tts.speaker_encoder import SpeakerEncoder, load_speaker_encoder
from polyvox.models.qwen3tts.talker import Talker, load_talker

FOLDER = Path(__file__).parents[1] / "golden" / "qwen3tts"
MODELS = FOLDER / "modeldir"
_ROLE, _TEXT_END, _TRANSCRIPT_END = 3, -5, -2


@cache
@lasting
def golden(name: str) -> dict[str, Tensor]:
    return load_file(FOLDER / f"{name}.safetensors")


@cache
def cases() -> dict[str, dict[str, object]]:
    """The recorded calls: arguments, model, and how each ended."""
    found: dict[str, dict[str, object]] = json.loads((FOLDER / "cases.json").read_text())
    return found


def single_cases(*, sampled: bool = False) -> list[str]:
    return [name for name, case in cases().items() if case["do_sample"] is sampled and len(_list(case["frames"])) == 1]


def _list(found: object) -> list[object]:
    assert isinstance(found, list)
    return found


@cache
def config(model: str) -> Qwen3TtsConfig:
    return Qwen3TtsConfig.parse(json.loads((MODELS / model / "config.json").read_text()))


@cache
@lasting
def weights(model: str) -> dict[str, Tensor]:
    return load_file(MODELS / model / "model.safetensors")


@cache
@lasting
def talker(model: str) -> Talker:
    return load_talker(config(model), weights(model))


@cache
@lasting
def speaker_encoder() -> SpeakerEncoder:
    sizes = config("base").speaker_encoder
    assert sizes is not None
    return load_speaker_encoder(sizes, weights("base"))


@cache
def tokenizer_config() -> TokenizerConfig:
    return TokenizerConfig.parse(json.loads((MODELS / "base" / "speech_tokenizer" / "config.json").read_text()))


@cache
@lasting
def tokenizer_weights() -> dict[str, Tensor]:
    return load_file(MODELS / "base" / "speech_tokenizer" / "model.safetensors")


@cache
@lasting
def codec_decoder() -> CodecDecoder:
    return load_codec_decoder(tokenizer_config().decoder, tokenizer_weights())


@cache
@lasting
def codec_encoder() -> CodecEncoder:
    return load_codec_encoder(tokenizer_config().encoder, tokenizer_weights())


def ids(name: str) -> tuple[int, ...]:
    """Recorded ids of a text, with the marks around it."""
    file = "sampled" if name.split(".")[0] in single_cases(sampled=True) else "prompts"
    found: list[int] = golden(file)[name].tolist()
    return tuple(found)


def tensor(name: str) -> Tensor:
    """A tensor of a prompt or of its generation."""
    files = [golden(file) for file in ("prompts", "generation", "sampled")]
    return next(file[name] for file in files if name in file)


def input_rows(name: str) -> InputRows:
    """Our rows of a recorded call."""
    case, model = cases()[name], str(cases()[name]["model"])
    args = case["args"]
    assert isinstance(args, dict)
    given = ids(f"{name}.input_ids")
    builder = InputRowBuilder(talker(model), given[:_ROLE])
    instruction = ids(f"{name}.instruct_ids") if f"{name}.instruct_ids" in golden("prompts") else ()
    streams = not args.get("non_streaming_mode", model != "base")
    build = builder.streaming if streams else builder.whole
    prefix = builder.prefix(_speaker(name, args), _language(name, args), instruction)
    return build(prefix, _reference(name, args), given[_ROLE:_TEXT_END])


def _language(name: str, args: dict[str, object]) -> str:
    spoken = str(args["language"]).lower()
    dialect = config("custom_voice").codec_ids.dialects.get(str(args.get("speaker", "")).lower())
    return dialect if dialect and spoken in (AUTO, "chinese") else spoken


def _speaker(name: str, args: dict[str, object]) -> Tensor | None:
    if "speaker" in args:
        model = talker("custom_voice")
        return model.codec_rows(torch.tensor(model.config.codec_ids.speakers[str(args["speaker"]).lower()]))
    return tensor(f"{name}.ref_spk_embedding") if "ref_audio" in args else None


def _reference(name: str, args: dict[str, object]) -> Reference | None:
    if "ref_audio" not in args or args.get("x_vector_only_mode"):
        return None
    return Reference(tensor(f"{name}.ref_code").long(), ids(f"{name}.ref_ids")[_ROLE:_TRANSCRIPT_END])
