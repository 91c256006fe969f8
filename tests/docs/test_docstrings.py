"""The first line of every docstring says what a thing is or does."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from helpers.documents import ROOT

SOURCE = ROOT / "src" / "polyvox"
QUESTION = re.compile(r"(What|Whatever|Whom|Who|Whoever|Whose|Where|When|Why|Which|How|Whether)\b")
"""Openings that ask or circumscribe, where a noun or a verb would say it."""
PRIVATE = re.compile(r"\b(nobody tells|in vain|what are no numbers)\b", re.IGNORECASE)

REWRITTEN = (
    "api/dialects/elevenlabs/socket_caller.py",
    "api/dialects/openai_realtime/connection.py",
    "api/dialects/realtime/caller.py",
    "api/middleware/clients.py",
    "api/responses/cached_answers.py",
    "api/shared_paths.py",
    "service/admission/",
    "service/session.py",
    "service/speech.py",
    "service/speech_source.py",
)
"""Files that are being rewritten; their docstrings follow."""


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every string that stands alone: docstrings, and those behind constants and fields."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text.strip()


def test_no_docstring_opens_with_a_question_or_speaks_a_private_language() -> None:
    read = [(path, line, text) for path in sorted(SOURCE.rglob("*.py")) for line, text in docstrings(path)]
    assert len(read) > 5_000
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path, line, text in read
        if QUESTION.match(text) or PRIVATE.search(text)
        if not path.relative_to(SOURCE).as_posix().startswith(REWRITTEN)
    ]
    assert found == []
