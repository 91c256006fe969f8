"""Where the benchmarks' texts come from."""

from pathlib import Path

import pytest

from polyvox.bench.texts import ENGLISH, MAX_FILE_BYTES, PARAGRAPH, texts_from
from polyvox.errors import InvalidRequestError


def test_the_paragraph_has_sixty_words() -> None:
    assert len(PARAGRAPH.split()) == 60


def test_no_file_means_the_built_in_texts() -> None:
    assert texts_from(None) == ENGLISH


def test_each_line_of_a_file_is_a_text(tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("\ufeffone\n\n  two \r\n三\n", encoding="utf-8")
    assert texts_from(file) == ("one", "two", "三")


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b" \n\n", "no text"), (b"\xff\xfe", "UTF-8"), (b"x" * (MAX_FILE_BYTES + 1), "bytes")],
    ids=["blank", "not UTF-8", "too large"],
)
def test_a_useless_file_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "texts.txt"
    file.write_bytes(content)
    with pytest.raises(InvalidRequestError, match=reason):
        texts_from(file)
