"""Kokoro's built-in voices and their mixes."""

import difflib
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from polyvox.config import OPENAI_VOICES
from polyvox.errors import UnknownVoiceError
from polyvox.types import Voice
from polyvox.voices.mixing import MixTerm, parse_mix

LANGUAGES = MappingProxyType(
    {
        "a": "en-us",
        "b": "en-gb",
        "e": "es",
        "f": "fr",
        "h": "hi",
        "i": "it",
        "j": "ja",
        "p": "pt-br",
        "z": "zh",
    }
)
LANGUAGE_TAGS = frozenset(LANGUAGES.values())
_GENDERS = {"f": "female", "m": "male"}
_NAMES = {
    "af": "alloy aoede bella heart jessica kore nicole nova river sarah sky",
    "am": "adam echo eric fenrir liam michael onyx puck santa",
    "bf": "alice emma isabella lily",
    "bm": "daniel fable george lewis",
    "ef": "dora",
    "em": "alex santa",
    "ff": "siwis",
    "hf": "alpha beta",
    "hm": "omega psi",
    "if": "sara",
    "im": "nicola",
    "jf": "alpha gongitsune nezumi tebukuro",
    "jm": "kumo",
    "pf": "dora",
    "pm": "alex santa",
    "zf": "xiaobei xiaoni xiaoxiao xiaoyi",
    "zm": "yunjian yunxi yunxia yunyang",
}
# As published with the model; the Spanish and Portuguese voices have none.
_GRADED = {
    "A": "af_heart",
    "A-": "af_bella",
    "B-": "af_nicole bf_emma ff_siwis",
    "C+": "af_aoede af_kore af_sarah am_fenrir am_michael am_puck jf_alpha",
    "C": "af_alloy af_nova bf_isabella bm_fable bm_george hf_alpha hf_beta hm_omega hm_psi if_sara im_nicola "
    "jf_gongitsune jf_tebukuro",
    "C-": "af_sky jf_nezumi jm_kumo",
    "D+": "bm_lewis",
    "D": "af_jessica af_river am_echo am_eric am_liam am_onyx bf_alice bf_lily bm_daniel zf_xiaobei zf_xiaoni "
    "zf_xiaoxiao zf_xiaoyi zm_yunjian zm_yunxi zm_yunxia zm_yunyang",
    "D-": "am_santa",
    "F+": "am_adam",
}
_GRADES = {voice: grade for grade, voices in _GRADED.items() for voice in voices.split()}
# OpenAI's voice names, for mixes and for the library; the server's setting `openai_voices` goes before.
_ALIASES = dict(alias.split("=", 1) for alias in OPENAI_VOICES)
OPENAI_NAMES: Final = frozenset(_ALIASES)


VOICES: Final = tuple(
    Voice(voice, name.capitalize(), LANGUAGES[prefix[0]], _GENDERS[prefix[1]], grade=_GRADES.get(voice, ""))
    for prefix, names in _NAMES.items()
    for name in names.split()
    for voice in (f"{prefix}_{name}",)
)
"""All 54 voices; a name's first letter is its language, the second its gender."""
_IDS: Final = frozenset(voice.id for voice in VOICES)


def available_voices(espeak: str) -> tuple[Voice, ...]:
    """All voices, each with the reason where its language cannot be spoken on this machine."""
    from polyvox.text.phonemes.availability import unspoken

    reasons = {language: unspoken((language,), espeak) for language in LANGUAGES.values()}
    return tuple(replace(voice, reason=reasons[voice.language]) for voice in VOICES)


def parse(expression: str) -> tuple[MixTerm, ...]:
    """Read a mix expression, resolve OpenAI's names, and refuse a voice that Kokoro does not have."""
    return resolved(parse_mix(expression))


def resolved(mix: Sequence[MixTerm]) -> tuple[MixTerm, ...]:
    """A mix with OpenAI's names resolved; a voice that Kokoro does not have is refused."""
    parts = tuple(MixTerm(_ALIASES.get(part.voice, part.voice), part.share) for part in mix)
    for part in parts:
        if part.voice not in _IDS:
            raise UnknownVoiceError(f"There is no voice {part.voice!r}; {_hint(part.voice)}", field="voice")
    return parts


def language_of(expression: str) -> str:
    """The language of a voice; of a mix, that of its first voice."""
    return LANGUAGES[parse(expression)[0].voice[0]]


def _hint(name: str) -> str:
    close = difflib.get_close_matches(name, sorted(_IDS), n=1)
    return (f"did you mean {close[0]!r}? " if close else "") + "GET /v1/audio/voices lists them all."
