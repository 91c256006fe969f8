"""Verses of scripture: the books by their whole names, chapter and verse."""

import re
from typing import Final

from polyvox.text.normalize.english.context import word_before
from polyvox.text.normalize.english.letters import any_of
from polyvox.text.normalize.english.numbers import DASH, cardinal
from polyvox.text.tracked import TrackedText

SHORT: Final = {
    "Gen": "Genesis",
    "Ex": "Exodus",
    "Exod": "Exodus",
    "Lev": "Leviticus",
    "Num": "Numbers",
    "Deut": "Deuteronomy",
    "Josh": "Joshua",
    "Judg": "Judges",
    "Sam": "Samuel",
    "Kgs": "Kings",
    "Chr": "Chronicles",
    "Chron": "Chronicles",
    "Neh": "Nehemiah",
    "Ps": "Psalm",
    "Pss": "Psalms",
    "Prov": "Proverbs",
    "Eccl": "Ecclesiastes",
    "Isa": "Isaiah",
    "Jer": "Jeremiah",
    "Lam": "Lamentations",
    "Ezek": "Ezekiel",
    "Dan": "Daniel",
    "Hos": "Hosea",
    "Mic": "Micah",
    "Zech": "Zechariah",
    "Mal": "Malachi",
    "Matt": "Matthew",
    "Mt": "Matthew",
    "Mk": "Mark",
    "Lk": "Luke",
    "Jn": "John",
    "Rom": "Romans",
    "Cor": "Corinthians",
    "Gal": "Galatians",
    "Eph": "Ephesians",
    "Phil": "Philippians",
    "Col": "Colossians",
    "Thess": "Thessalonians",
    "Tim": "Timothy",
    "Heb": "Hebrews",
    "Jas": "James",
    "Pet": "Peter",
    "Rev": "Revelation",
}
_BOOKS: Final = frozenset(
    "Acts Amos Chronicles Colossians Corinthians Daniel Deuteronomy Ecclesiastes Ephesians Esther Exodus "
    "Ezekiel Ezra Galatians Genesis Habakkuk Haggai Hebrews Hosea Isaiah James Jeremiah Job Joel John Jonah "
    "Joshua Jude Judges Kings Lamentations Leviticus Luke Malachi Mark Matthew Micah Nahum Nehemiah Numbers "
    "Obadiah Peter Philemon Philippians Proverbs Psalm Psalms Quran Revelation Romans Ruth Samuel Surah "
    "Thessalonians Timothy Titus Zechariah Zephaniah".split()
)
_BOOK: Final = re.compile(rf"\b(?P<short>{any_of(SHORT)})\.? (?=\d{{1,3}}:\d)")
_NUMBERED: Final = re.compile(
    r"(?<![\w.,:$€£-])(?P<number>[123]) (?=(?:Samuel|Kings|Chronicles|Corinthians|Thessalonians|Timothy|Peter|John) \d)"
)
_ORDINALS: Final = {"1": "First", "2": "Second", "3": "Third"}
_VERSE: Final = re.compile(rf"(?<=[a-z] )(\d{{1,3}}):(\d{{1,3}})(?:{DASH}(?:(\d{{1,3}}):)?(\d{{1,3}}))?(?![\w:]|\.\d)")


def read(text: TrackedText) -> TrackedText:
    """ "1 Cor. 13:4-8"."""
    if ":" not in text.text:
        return text
    text = text.sub(_BOOK, lambda match: f"{SHORT[match['short']]} ")
    return text.sub(_NUMBERED, lambda match: f"{_ORDINALS[match['number']]} ").sub(_VERSE, _verse)


def _verse(match: re.Match[str]) -> str | None:
    if word_before(match) not in _BOOKS:
        return None
    words = f"{cardinal(match[1])} {cardinal(match[2])}"
    chapter = f"{cardinal(match[3])} " if match[3] else ""
    return f"{words} to {chapter}{cardinal(match[4])}" if match[4] else words
