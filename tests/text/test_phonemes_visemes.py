"""Phonemes in IPA, and the visemes that go with them."""

from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.text.phonemes.alphabet import ALPHABET, STRESSES
from polyvox.text.phonemes.units import MODIFIERS, SILENT, PhonemeUnit, phoneme_units
from polyvox.text.phonemes.visemes import SILENCE, visemes


def test_every_symbol_of_the_vocabulary_has_a_viseme_or_is_named_as_silent_or_as_a_mark_of_another():
    assert set(IDS) == set(ALPHABET)
    for symbol in ALPHABET:
        units = phoneme_units(symbol)
        if symbol in SILENT | STRESSES | MODIFIERS:
            assert not units, symbol
        else:
            (unit,) = units
            assert (unit.start, unit.end) == (0, 1)
            assert visemes(unit.ipa), symbol
            assert SILENCE not in visemes(unit.ipa), symbol


def test_marks_of_stress_length_nasality_and_tone_belong_to_their_phoneme():
    for phonemes, ipa in {
        "həlˈO": ["h", "ə", "l", "ˈoʊ"],
        "wˈɜːld": ["w", "ˈɜː", "l", "d"],
        "bɔ̃ʒˈuʁ": ["b", "ɔ̃", "ʒ", "ˈu", "ʁ"],
        "ꭧʰɤ↗ma→": ["tʂʰ", "ɤ˧˥", "m", "a˥"],
        "kʲoː": ["kʲ", "oː"],
    }.items():
        assert [unit.ipa for unit in phoneme_units(phonemes)] == ipa


def test_units_cover_all_symbols_of_a_word_but_its_silent_ones():
    units = phoneme_units("ˌʌˈp, ʤ")
    assert units == (PhonemeUnit("ˌʌ", 0, 2), PhonemeUnit("ˈp", 2, 4), PhonemeUnit("dʒ", 6, 7))
    assert phoneme_units("ˈ ") == ()


def test_diphthongs_and_affricates_have_the_ids_that_azure_documents():
    documented = {"ˈaɪ": (11,), "aʊ": (9,), "ɔɪ": (10,), "eɪ": (4, 6), "oʊ": (8, 4), "tʃ": (19, 16), "ts": (19, 15)}
    for phoneme, ids in {**documented, "ɛ̃": (4,), "ɜː": (5,), "☃": ()}.items():
        assert visemes(phoneme) == ids, phoneme


def test_all_of_azures_visemes_are_used():
    used = {viseme for symbol in ALPHABET for unit in phoneme_units(symbol) for viseme in visemes(unit.ipa)}
    assert used == set(range(1, 22))
