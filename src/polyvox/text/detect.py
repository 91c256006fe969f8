"""Language detection: by writing system, and among languages in Latin letters by their words."""

import re
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

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
    ("latin", re.compile("[A-Za-z\u00c0-\u024f]")),
)
LATIN: Final = frozenset(("de", "en", "es", "fr", "it", "ms", "pt"))
"""Languages in Latin letters that are told apart."""
_SHORT: Final = 60
_CONFIDENCE: Final = 0.55
"""Least probability of the language of a short text; a name or a word that several of them have says nothing."""
_TAG: Final = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
# One character of these scripts is a syllable or a word, worth several letters of an alphabet.
_DENSE: Final = frozenset(("ja", "zh", "ko"))
_DENSITY: Final = 3


def detect_language(text: str, among: Collection[str] = LATIN) -> str:
    """ "zh", "ja", "ko", "hi", "ru" … by script; of Latin letters one of `among`, "en" where the text says little."""
    sample = text[:_SAMPLE]
    script = "latin" if sample.isascii() else _script(sample)
    if script != "latin":
        return script
    return _latin_language(sample, LATIN.intersection(tag.partition("-")[0] for tag in among))


def load_detector() -> None:
    """Load the classifier, as a server does before it answers: 0.8 s of CPU time, 50 MB."""
    _identifier()


def _script(sample: str) -> str:
    weights = {
        script: len(pattern.findall(sample)) * (_DENSITY if script in _DENSE else 1) for script, pattern in _SCRIPTS
    }
    # Chinese characters beside kana are Japanese; a stray kana in Chinese text is not enough.
    if weights["ja"] * 8 >= weights["zh"] and weights["ja"]:
        weights["ja"] += weights.pop("zh")
    script = max(weights, key=lambda name: weights[name])
    return script if weights[script] else "latin"


def _latin_language(sample: str, among: Collection[str]) -> str:
    words = _TAG.sub(" ", sample)
    if not any(language != "en" for language in among) or not any(map(str.isalpha, words)):
        return "en"
    likely = {language: share for language, share in _identifier().rank(words) if language in among}
    best = max(likely, key=lambda language: likely[language])
    evident = len(words) > _SHORT or likely[best] > _CONFIDENCE * sum(likely.values())
    return best if evident else "en"


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    every = LanguageIdentifier.from_model_file(MODEL_FILE)
    every.set_languages(LATIN)
    # One of its own lets go of the tables of 132 other languages.
    return LanguageIdentifier(
        every.nb_ptc, every.nb_pc, every.nb_classes, every.tk_nextmove, every.tk_output, True, tk_row=every.tk_row
    )
