"""Languages read by espeak-ng, and what happens where it is absent or misbehaves."""

import json
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.tables import each_row
from polyvox.errors import EngineError, UnavailableError
from polyvox.text.markup import markup
from polyvox.text.phonemes import LANGUAGES, phonemizer_for
from polyvox.text.phonemes.alignment import align_to_words
from polyvox.text.phonemes.alphabet import ALPHABET
from polyvox.text.phonemes.espeak import program as espeak_program
from polyvox.text.phonemes.espeak.choice import VOICES
from polyvox.text.phonemes.espeak.phonemizer import EspeakPhonemizer
from polyvox.text.spoken import Pause, SpokenWord
from polyvox.text.tracked import TrackedText

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/kokoro_frontend.json").read_text(encoding="utf-8"))
installed = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")


def said(text: str, language: str, program: str = "espeak-ng") -> list[SpokenWord]:
    parts = EspeakPhonemizer(language, program)(TrackedText.of(text), ())
    return [part for part in parts if isinstance(part, SpokenWord)]


def program(folder: Path, script: str) -> str:
    path = folder / "fake-espeak"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@installed
@each_row("language", GOLDEN["espeak_g2p"])
def test_sentences_sound_as_the_voices_were_trained(language: str) -> None:
    case = GOLDEN["espeak_g2p"][language]
    assert "".join(word.phonemes + " " * word.space for word in said(case["text"], language)) == case["phonemes"]


@installed
def test_words_point_at_their_places_though_they_run_together() -> None:
    text = "Vous avez 2024 enfants — peut-être !"
    words = said(text, "fr")
    assert [word.text for word in words] == [text[word.span.start : word.span.end] for word in words]
    assert [word.text for word in words] == ["Vous", "avez", "2024", "2024", "2024", "enfants", "—", "peut-être", "!"]


@installed
@each_row(
    ("language", "text", "sound"),
    [
        ("fr", "quatre-vingt-deux", "vˈɛ̃dˈø"),
        ("fr", "quatre-vingt-huit", "vˈɛ̃yˈit"),
        ("fr", "quatre-vingt-onze", "vˈɛ̃ˈɔ̃z"),
        ("fr", "vingt-deux", "vˈɛ̃tdˈø"),
        ("fr", "cent ans", "sˈɑ̃tˈɑ̃"),
        ("fr", "cinq pour cent ans", "sˈɑ̃ˈɑ̃"),
        ("pt-br", "a O M S", "ˈɔˈeme"),
        ("pt-br", "O livro", "ʊlˈiv"),
        ("es", "el D I Y", "ɣɾiˈeɣa"),
    ],
)
def test_what_espeak_says_wrong_is_spelled_otherwise(language: str, text: str, sound: str) -> None:
    words = said(text, language)
    assert sound in "".join(word.phonemes for word in words)
    assert " ".join(word.text for word in words) == text


@installed
def test_inserts_are_said_as_given() -> None:
    marked = markup.parse("Hola [mundo](/mˈundo/) [pause:1s] amigos.")
    parts = EspeakPhonemizer("es", "espeak-ng")(marked.text, marked.inserts)
    assert [part.phonemes if isinstance(part, SpokenWord) else part.seconds for part in parts] == [
        "ˈola", "mˈundo", 1.0, "amˈiɣos", ".",
    ]  # fmt: skip
    assert sum(isinstance(part, Pause) for part in parts) == 1


@pytest.mark.long
@installed
@examples(25)
@given(st.text(max_size=40), st.sampled_from(sorted(VOICES)))
def test_any_text_becomes_words_of_the_alphabet_in_order(text: str, language: str) -> None:
    place = 0
    for word in said(text, language):
        assert word.phonemes
        assert set(word.phonemes) <= ALPHABET
        assert place <= word.span.start < word.span.end <= len(text)
        place = word.span.start


@installed
def test_a_long_text_without_marks_is_asked_for_in_pieces() -> None:
    assert len(said("palabra " * 1000, "es")) == 1000


@each_row("language", sorted(VOICES))
def test_without_the_program_the_error_names_the_remedy(language: str) -> None:
    with pytest.raises(UnavailableError, match="apt-get install espeak-ng") as caught:
        phonemizer_for(language, espeak="no-such-espeak")
    assert caught.value.field == "language"


def test_a_program_that_vanishes_is_unavailable(tmp_path: Path) -> None:
    path = program(tmp_path, "cat")
    reader = EspeakPhonemizer("es", path)
    Path(path).unlink()
    with pytest.raises(UnavailableError):
        reader(TrackedText.of("hola"), ())


def test_the_text_travels_by_standard_input_alone(tmp_path: Path) -> None:
    path = program(tmp_path, f'echo "$@" > {tmp_path}/arguments; cat > {tmp_path}/text; echo ola')
    words = said("hola; rm -rf $HOME", "es", path)
    assert (tmp_path / "arguments").read_text() == "-q -b 1 --ipa --tie=^ -v es\n"
    assert words


def test_a_program_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak_program, "_TIMEOUT_SECONDS", 0.2)
    with pytest.raises(EngineError, match="took too long"):
        said("hola", "es", program(tmp_path, "exec sleep 30"))


def test_a_program_that_never_stops_talking_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak_program, "_MAX_ANSWER_BYTES", 1000)
    with pytest.raises(EngineError):
        said("hola", "es", program(tmp_path, "exec yes"))


def test_a_program_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="status 3"):
        said("hola", "es", program(tmp_path, "exit 3"))


def test_a_language_that_nobody_speaks_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="en-us"):
        phonemizer_for("tlh", espeak="espeak-ng")
    assert {"en-us", "en-gb", "zh", "es", "fr", "hi", "it", "pt-br"} <= set(LANGUAGES)


def test_phonemes_are_dealt_out_to_the_words_they_are_most_like() -> None:
    assert align_to_words(["dø", "mil", "vɛ̃", "ami"], [["dø", "mil", "vɛ̃"], ["ami"]]) == ["dø mil vɛ̃", "ami"]
    assert align_to_words(["il", "ja"], [["il"], ["i"], ["a"]]) in (["il", "", "ja"], ["il", "ja", ""])
    assert align_to_words([], [["a"], ["b"]]) == ["", ""]
