"""Marks of a book that was narrated: the same for all of its files, however often its work was interrupted."""

from polyvox.books.narration.narration import Narration
from polyvox.config import Settings
from polyvox.provenance.marks import Marks, derived_id


def book_tags(narration: Narration, settings: Settings) -> dict[str, str]:
    """The tags of a narration's files; none where the settings want none."""
    if settings.provenance == "off":
        return {}
    model = narration.plan.options.model or settings.default_model
    return Marks.of_day(derived_id("book", model, repr(narration.plan)), model, narration.created).tags
