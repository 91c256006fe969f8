"""The English reader's tables as plain data, for readers in other languages, such as the browser's."""

import json
from typing import Any, Final

from polyvox.text.normalize.english import numbers
from polyvox.text.normalize.english.abbreviations.words import ANYWHERE, GOING_ON, TITLES, WITHIN
from polyvox.text.phonemes.english import g2p, word_classes
from polyvox.text.phonemes.english.acronyms import EMPHATIC
from polyvox.text.phonemes.english.lexicon import Entry, Lexicon, Variant, lexicon
from polyvox.text.phonemes.marks import WORDS as SIGNS

_CLASSES: Final = (
    *("ADJECTIVES", "ADVERBS", "AUXILIARIES", "BE", "CONJUNCTIONS", "DETERMINERS", "HAVE", "LET", "MODALS", "NOUN_TO"),
    *("NEVER_AFTER_ARTICLE", "OBJECTS", "PAST_CUES", "PAST_FORMS", "PREPOSITIONS", "SINGULAR_SUBJECTS", "SUBJECTS"),
)
_MONTHS: Final = "January February March April May June July August September October November December".split()


def reader_tables(variant: Variant) -> dict[str, Any]:
    """Dictionary, word classes, number words, abbreviations and signs of one variant, ready for JSON."""
    words = lexicon(variant)
    plain = {word: entry for word, entry in words.gold.items() if isinstance(entry, str)}
    lower = _lower_words(words)
    return {
        "variant": variant,
        "words": "\n".join(plain),
        "sounds": "\n".join(plain.values()),
        "byRole": {word: dict(entry) for word, entry in words.gold.items() if not isinstance(entry, str)},
        "lowerWords": "\n".join(lower),
        "lowerSounds": "\n".join(lower.values()),
        "classes": {name: sorted(getattr(word_classes, name)) for name in _CLASSES},
        "titles": {"Dr": "Doctor", "St": "Saint"} | TITLES,
        "abbreviations": ANYWHERE,
        "abbreviationsWithin": WITHIN | GOING_ON,
        "signs": dict(SIGNS),
        "emphatic": sorted(EMPHATIC),
        "numbers": {
            "ones": numbers.ONES,
            "tens": list(numbers.TENS),
            "scales": list(numbers.SCALES),
            "ordinals": numbers.IRREGULAR_ORDINALS,
        },
        "months": _MONTHS,
        "g2p": g2p.description(),
    }


def as_json(tables: dict[str, Any]) -> bytes:
    """The tables as compact JSON; the same tables give the same bytes."""
    return json.dumps(tables, ensure_ascii=False, separators=(",", ":")).encode()


def _lower_words(words: Lexicon) -> dict[str, str]:
    """All words that are not in the dictionary checked by hand, with the sounds that the lexicon finds for them."""
    known = {*words.names, *words.silver}
    found: dict[str, Entry | None] = {word: words.find(word) for word in sorted(known) if word not in words.gold}
    return {word: sound for word, sound in found.items() if isinstance(sound, str)}
