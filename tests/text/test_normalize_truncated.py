"""Words that are cut short with a full stop, beside the same letters as a word of their own."""

from helpers.tables import each_row
from polyvox.text.normalize import normalizer_for
from polyvox.text.normalize.romance.short_forms.truncated import pairs, truncated
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


def test_longer_forms_end_in_a_consonant_and_the_first_word_keeps_a_form() -> None:
    forms = {"élec.": "électrique", "élect.": "électrique", "électr.": "électrique", "élector.": "électoral"}
    assert truncated("élec|trique élect|oral") == forms


def test_behind_two_lines_there_are_no_longer_forms() -> None:
    assert truncated("nat||ional") == {"nat.": "national"}


def test_pairs_stand_between_semicolons_and_lines() -> None:
    assert pairs("dvt: devant; avt: avant\n à b.: c d ") == {"dvt": "devant", "avt": "avant", "à b.": "c d"}


@each_row(
    ("language", "written", "heard"),
    [
        ("fr", "Un vélo élec. neuf.", "Un vélo électrique neuf."),
        ("fr", "Un vélo élec.", "Un vélo électrique."),
        ("fr", "Écris à a@courriel.com.", "Écris à a arobase courriel point com."),
        ("fr", "Le ciel est couvert. Il pleut.", "Le ciel est couvert. Il pleut."),
        ("it", "In all. il prev. n. 3.", "In allegato il preventivo numero tre."),
        ("it", "Ca' Foscari, 10 min ca.", "Ca' Foscari, dieci minuti circa."),
    ],
)
def test_a_cut_word_is_whole_again_and_a_word_stays(language: str, written: str, heard: str) -> None:
    assert normalizer_for(language)(TrackedText.of(written), NormalizationOptions()).text == heard
