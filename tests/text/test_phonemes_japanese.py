"""Japanese text becomes phonemes where its dictionary is installed; its syllables are known everywhere."""

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.reading_corpus import load
from helpers.tables import each_row
from polyvox.errors import UnavailableError
from polyvox.text.normalize import normalizer_for
from polyvox.text.phonemes import phonemizer_for
from polyvox.text.phonemes.alphabet import ALPHABET
from polyvox.text.phonemes.english.phonemizer import EnglishPhonemizer
from polyvox.text.phonemes.japanese import phonemizer as japanese
from polyvox.text.phonemes.japanese.counters import COUNTERS, counted_kana
from polyvox.text.phonemes.japanese.kana import hiragana, kana_phonemes
from polyvox.text.spoken import SpokenWord
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


@each_row(
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


@each_row(
    ("text", "phonemes"),
    [
        ("こんにちは、世界。", "koɲɲiʨiβa, sekai."),
        ("私は学生です。", "βataɕi βa ɡakɯseː desɨ."),
        ("彼女は「ありがとう」と言った。", "kanoʥo βa “aɾʲiɡatoː” to iʔta."),
        ("今日は東京で2024年の会議があります。", "kʲoː βa toːkʲoː de ɲiseɲɲiʥɨːjoneɴ no kaiɡʲi ɡa aɾʲimasɨ."),
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
    assert places[2:] == ["10500円"]


@each_row(
    ("number", "characters"),
    [("0", "零"), ("7", "七"), ("10", "十"), ("111", "百十一"), ("2024", "二千二十四"), ("10500", "一万五百"),
     ("100000000", "一億"), ("007", "零零七")],
)  # fmt: skip
def test_numbers_in_characters(number: str, characters: str) -> None:
    assert japanese._in_characters(number) == characters


READINGS = load("ja.tsv")
SYLLABIC_N = re.compile("[mŋɲnɴ](?![aeioɯɨjʲ])")


def sounds(phonemes: str) -> str:
    """Without spaces and marks; the syllabic n takes its place from its neighbour, which may be another word."""
    return SYLLABIC_N.sub("ɴ", re.sub("[ .,:;!?—…“”()]", "", phonemes))


@each_row("kind", list(dict.fromkeys(line.kind for line in READINGS)))
def test_figures_and_signs_sound_as_people_say_them(kind: str) -> None:
    read = phonemizer_for("ja", espeak="")
    wrong = []
    for line in (line for line in READINGS if line.kind == kind):
        text = normalizer_for("ja")(TrackedText.of(line.written), NormalizationOptions())
        heard = sounds("".join(part.phonemes for part in read(text, ()) if isinstance(part, SpokenWord)))
        if heard not in [sounds(kana_phonemes(said)) for said in line.said]:
            wrong.append((line.written, text.text, heard))
    assert wrong == []


@given(st.integers(0, 10**16 - 1), st.sampled_from(sorted(COUNTERS)))
@settings(deadline=None)
def test_every_number_sounds_before_every_counter(value: int, counter: str) -> None:
    assert re.fullmatch("[ァ-ヶー]+", counted_kana(str(value), counter))


def test_listed_words_are_read_whole_wherever_they_stand() -> None:
    for text, kana in (
        ("富士山", "ふじさん"),
        ("新千歳", "しんちとせ"),
        ("昨日本館", "きのーほんかん"),
        ("今日中国", "きょーちゅーごく"),
        ("あの方", "あのかた"),
        ("発売日", "はつばいび"),
        ("100万本", "ひゃくまんぼん"),
        ("1400万人", "せんよんひゃくまんにん"),
    ):
        spoken = phonemizer_for("ja", espeak="")(TrackedText.of(text), ())
        assert sounds("".join(word.phonemes for word in spoken if isinstance(word, SpokenWord))) == sounds(
            kana_phonemes(kana)
        ), text
