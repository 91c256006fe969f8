"""Japanese text becomes phonemes where its dictionary is installed; its syllables are known everywhere."""

import sys

import pytest

from polyvox.errors import UnavailableError
from polyvox.text.phonemes import japanese, phonemizer_for
from polyvox.text.phonemes.alphabet import ALPHABET
from polyvox.text.phonemes.english import EnglishPhonemizer
from polyvox.text.phonemes.kana import hiragana, kana_phonemes
from polyvox.text.spoken import SpokenWord
from polyvox.text.tracked import TrackedText


@pytest.mark.parametrize(
    ("kana", "phonemes"),
    [
        ("こんにちは", "koɲɲiʨiha"), ("とーきょー", "toːkʲoː"), ("きって", "kʲiʔte"), ("しゅじゅつ", "ɕɨʥɨʦɨ"),
        ("さんぽ", "sampo"), ("でんき", "deŋkʲi"), ("ほん", "hoɴ"), ("おんな", "onna"), ("ふぁん", "ɸaɴ"),
        ("りゅー", "ɾʲɨː"), ("んにゃ", "ɲɲa"), ("x", ""),
    ],
)  # fmt: skip
def test_syllables(kana: str, phonemes: str) -> None:
    assert kana_phonemes(kana) == phonemes


def test_every_kana_has_a_sound_of_the_alphabet() -> None:
    for code in range(0x3041, 0x3097):
        sound = kana_phonemes(chr(code))
        assert sound
        assert set(sound) <= ALPHABET
    assert hiragana("カタカナー") == "かたかなー"


def test_without_its_dictionary_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fugashi", None)
    with pytest.raises(UnavailableError, match=r"pip install -e '\.\[ja\]'"):
        japanese.JapanesePhonemizer(EnglishPhonemizer("us"))


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("こんにちは、世界。", "koɲɲiʨiβa, sekai."),
        ("私は学生です。", "βatakɯɕi βa ɡakɯseː desɨ."),
        ("彼女は「ありがとう」と言った。", "kanoʥo βa “aɾʲiɡatoː” to iʔta."),
        ("今日は東京で2024年の会議があります。", "kʲoː βa toːkʲoː de ɲiseɴ ɲiʥɨːjoɴ neɴ no kaiɡʲi ɡa aɾʲimasɨ."),
        ("GPUを使う", "ʤˌipˌijˈu o ʦɨkaɯ"),
    ],
)
def test_sentences_sound_as_the_voices_were_trained(text: str, phonemes: str) -> None:
    parts = phonemizer_for("ja", espeak="espeak-ng")(TrackedText.of(text), ())
    assert "".join(part.phonemes + " " * part.space for part in parts if isinstance(part, SpokenWord)) == phonemes


def test_words_point_at_their_places() -> None:
    text = "ｶﾞﾝﾀﾞﾑは10500円"
    parts = [part for part in phonemizer_for("ja", espeak="")(TrackedText.of(text), ()) if isinstance(part, SpokenWord)]
    places = [text[part.span.start : part.span.end] for part in parts]
    assert places[0] == "ｶﾞﾝﾀﾞﾑ"
    assert set(places[2:-1]) == {"10500"}


@pytest.mark.parametrize(
    ("number", "characters"),
    [("0", "零"), ("7", "七"), ("10", "十"), ("111", "百十一"), ("2024", "二千二十四"), ("10500", "一万五百"),
     ("100000000", "一億"), ("007", "零零七")],
)  # fmt: skip
def test_numbers_in_characters(number: str, characters: str) -> None:
    match = japanese._NUMBER.search(number)
    assert match is not None
    assert japanese._numeral(match) == characters
