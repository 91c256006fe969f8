"""Short forms that only the setting of a text explains, and heteronyms near their deciding words."""

import pytest

from polyvox.text.normalize import en
from polyvox.text.phonemes.english.initialisms import is_spelled
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


def _said(text: str) -> str:
    return en.normalize(TrackedText.of(text), NormalizationOptions()).text


def test_a_setting_decides() -> None:
    rows = {
        "The CT was neg. for fracture.": "negative",
        "Rent is low, terms neg., no pets.": "negotiable",
        "Fin. bsmt., 2-car gar., no pets": "Finished basement",
        "Def. Ortega pleaded guilty in court.": "Defendant Ortega",
        "The law in N.D. Cal. is plain.": "Northern District of California",
    }
    for text, heard in rows.items():
        assert heard in _said(text), text


def test_elsewhere_the_same_letters_stay() -> None:
    for text in ("The kit. was gone.", "A pos. of power", "My fin. hurts", "It was gr. fun"):
        assert _said(text).split()[1] == text.split()[1], text


def test_a_circuit_keeps_the_end_of_its_sentence() -> None:
    assert _said("It went to the D.C. Cir. The court agreed.").startswith("It went to the D.C Circuit. The")


@pytest.mark.parametrize(("words", "spelled"), [("the or was full", True), ("tea or coffee was", None)])
def test_or_behind_an_article_is_a_room(words: str, spelled: bool | None) -> None:
    found = words.split()
    assert (is_spelled("OR", found, found.index("or")) or None) is spelled
