"""The first line of every docstring says what a thing is or does."""

import ast
import re
from collections.abc import Iterator

from helpers.documents import ROOT

SOURCE = ROOT / "src" / "polyvox"
QUESTION = re.compile(r"(What|Whatever|Whom|Who|Whoever|Whose|Where|When|Why|Which|How|Whether)\b")
"""Openings that ask or circumscribe, where a noun or a verb would say it."""
QUOTED_QUESTION = re.compile(rf'"\s*{QUESTION.pattern}')
PRIVATE = re.compile(r"\b(nobody tells|in vain|what are no numbers)\b", re.IGNORECASE)


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string that stands alone: docstrings, and those behind constants and fields."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(found))):
                yield node.lineno, found.strip()


def openings(text: str) -> Iterator[tuple[int, str]]:
    """Docstrings of a module that open with a question or speak a private language; most modules are not parsed."""
    if QUOTED_QUESTION.search(text) or PRIVATE.search(text):
        yield from (found for found in docstrings(text) if QUESTION.match(found[1]) or PRIVATE.search(found[1]))


def test_no_docstring_opens_with_a_question_or_speaks_a_private_language() -> None:
    paths = sorted(SOURCE.rglob("*.py"))
    assert len(paths) > 500
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in paths
        for line, text in openings(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_questions_are_found_wherever_they_stand() -> None:
    module = (
        '"""\nWho calls."""\nSIZE = 1\n"""How much."""\n\ndef made():\n    """What is made."""\n    return "What?"\n'
    )
    assert [line for line, _ in openings(module)] == [1, 4, 7]
    assert not list(openings('"""Of what is made."""\n'))
