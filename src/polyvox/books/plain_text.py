"""Plain text as a manuscript."""

from polyvox.books.manuscript import Chapter, Manuscript, ManuscriptLimits


def read_plain_text(text: str, limits: ManuscriptLimits) -> Manuscript:
    """One chapter of all paragraphs, which are parted by empty lines."""
    paragraphs = tuple(" ".join(part.split()) for part in text.split("\n\n") if part.strip())
    return Manuscript("", "", "", None, (Chapter("", paragraphs),))
