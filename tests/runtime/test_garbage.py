"""Garbage collection: what a server imports is never walked through again."""

import gc
import weakref

import pytest

from polyvox.runtime.garbage import free_memory, keep_loaded, lasting_imports


class Part:
    """Refers to itself, as parts of networks do."""

    def __init__(self) -> None:
        self.itself = self


def test_imports_are_not_interrupted_and_are_passed_over_later() -> None:
    frozen = gc.get_freeze_count()
    with lasting_imports():
        assert not gc.isenabled()
        kept = [[] for _ in range(1_000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= frozen + len(kept)
    assert not any(kept[0] is each for each in gc.get_objects())


def test_an_import_that_fails_leaves_collections_as_they_were() -> None:
    with pytest.raises(ImportError), lasting_imports():
        import polyvox.nothing  # noqa: F401
    assert gc.isenabled()


def test_a_loaded_model_is_passed_over_until_memory_is_freed() -> None:
    part = Part()
    left = weakref.ref(part)
    keep_loaded()
    del part
    gc.collect()
    assert left() is not None
    free_memory()
    assert left() is None
    assert gc.get_freeze_count() > 0
