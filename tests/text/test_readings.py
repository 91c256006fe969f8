"""Sentences as people write them are read as people would read them."""

import pytest

from helpers.reading_corpus import load, misread
from polyvox.text.normalize import normalizer_for
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

CORPORA = {"ms": 300, "zh": 100}
CLASSES = [
    (language, kind) for language in CORPORA for kind in dict.fromkeys(line.kind for line in load(f"{language}.tsv"))
]


@pytest.mark.parametrize(("language", "kind"), CLASSES)
def test_sentences_of_every_class_are_read_as_people_read_them(language: str, kind: str) -> None:
    def spoken(text: str) -> str:
        return normalizer_for(language)(TrackedText.of(text), NormalizationOptions()).text

    assert misread([line for line in load(f"{language}.tsv") if line.kind == kind], spoken) == {}


@pytest.mark.parametrize(("language", "fewest"), CORPORA.items())
def test_there_are_many_sentences_and_none_twice(language: str, fewest: int) -> None:
    written = [line.written for line in load(f"{language}.tsv")]
    assert len(written) == len(set(written)) >= fewest
