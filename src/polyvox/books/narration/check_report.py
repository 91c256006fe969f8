"""The report of a checked narration: which passages were spoken again, and which are still not right."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from polyvox.books.narration.passage_check import CheckCounts, PassageCheck
from polyvox.books.narration.plan import Passage

REPORT_NAME: Final = "book.check.json"
REPORT_MEDIA_TYPE: Final = "application/json"


def check_report(checks: Iterable[tuple[int, Passage, PassageCheck]]) -> bytes:
    """The report as JSON: counts of all passages, and those that are notable, each with its chapter, from 1."""
    counts, words, wrong, first_wrong = CheckCounts(), 0, 0, 0
    notable: list[dict[str, Any]] = []
    for chapter, passage, check in checks:
        counts = counts.adding(check)
        words, wrong, first_wrong = words + check.words, wrong + check.wrong, first_wrong + check.first_wrong
        if check.notable:
            notable.append(_entry(chapter, passage, check))
    report = {
        **asdict(counts),
        "words": words,
        "wrong_words": wrong,
        "wrong_words_of_first_takes": first_wrong,
        "sentences": notable,
    }
    return json.dumps(report, ensure_ascii=False, indent=1).encode() + b"\n"


def _entry(chapter: int, passage: Passage, check: PassageCheck) -> dict[str, Any]:
    found: dict[str, Any] = {"sentence": passage.index + 1, "chapter": chapter, "text": passage.text}
    if check.unheard:
        return found | {"unchecked": check.unheard}
    return found | {
        "heard": check.heard,
        "words": check.words,
        "wrong_words": check.wrong,
        "wrong_words_of_first_take": check.first_wrong,
        "takes": check.takes,
        "kept_take": check.kept,
        "remaining": not check.passed,
    }
