"""Language detection by writing system."""

import re
from typing import Final

_SAMPLE: Final = 4000
_SCRIPTS: Final = (
    ("ja", re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")),
    ("ko", re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("en", re.compile("[A-Za-z\u00c0-\u024f]")),
)
# One character of these scripts is a syllable or a word, worth several letters of an alphabet.
_DENSE: Final = frozenset(("ja", "zh", "ko"))
_DENSITY: Final = 3


def detect_language(text: str) -> str:
    """ "zh", "ja", "ko", "hi", "ru" … by script; "en" for Latin letters and where there is no evidence."""
    sample = text[:_SAMPLE]
    if sample.isascii():
        return "en"
    weights = {
        language: len(script.findall(sample)) * (_DENSITY if language in _DENSE else 1) for language, script in _SCRIPTS
    }
    # Chinese characters beside kana are Japanese; a stray kana in Chinese text is not enough.
    if weights["ja"] * 8 >= weights["zh"] and weights["ja"]:
        weights["ja"] += weights.pop("zh")
    language = max(weights, key=lambda name: weights[name])
    return language if weights[language] else "en"
