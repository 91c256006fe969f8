"""Previews of designed voices are their owner's, and few are kept for a while."""

import numpy as np
import pytest

from polyvox.errors import NotFoundError
from polyvox.service.voices.design_previews import DesignPreview, DesignPreviews


def preview(owner: str, seconds: float = 0.01) -> DesignPreview:
    return DesignPreview(owner, "An old voice.", "One.", "en", np.zeros(int(24_000 * seconds), np.float32), 24_000)


def found(previews: DesignPreviews, name: str, owner: str) -> bool:
    try:
        return previews.find(name, owner).owner == owner
    except NotFoundError:
        return False


def test_a_preview_is_found_by_its_owner_alone_and_for_an_hour() -> None:
    now = [0.0]
    previews = DesignPreviews(lambda: now[0])
    name = previews.add(preview("anna"))
    assert found(previews, name, "anna")
    with pytest.raises(NotFoundError, match="design the voice again"):
        previews.find(name, "bert")
    now[0] = 3_599.0
    assert found(previews, name, "anna")
    now[0] = 3_600.0
    assert not found(previews, name, "anna")


def test_older_previews_make_room_for_new_ones_of_the_same_owner_and_of_all() -> None:
    previews = DesignPreviews(lambda: 0.0)
    of_bert = previews.add(preview("bert"))
    names = [previews.add(preview("anna")) for _ in range(14)]
    assert [found(previews, name, "anna") for name in names] == [False] * 2 + [True] * 12
    assert found(previews, of_bert, "bert")
    small = DesignPreviews(lambda: 0.0, max_bytes=2 * 96_000)
    kept = [small.add(preview("anna", 1.0)) for _ in range(3)]
    assert [found(small, name, "anna") for name in kept] == [False, True, True]
