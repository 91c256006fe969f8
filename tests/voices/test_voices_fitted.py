"""Fitted styles in the reports of voices: what is kept, what is shown, and what is refused."""

import base64

import numpy as np
import pytest

from helpers.tables import each_row
from helpers.voice_samples import noise, registration
from polyvox.errors import InvalidRequestError
from polyvox.installation import load_settings
from polyvox.voices.fitted import KEY, STYLE_SIZE, FittedStyle, fitted_style, shown_report
from polyvox.voices.limits import PromptLimits
from polyvox.voices.storage.archive import read_archive, write_archive
from polyvox.voices.storage.store import FileVoiceStore


def style(**changes: object) -> FittedStyle:
    values = {
        "model": "kokoro",
        "base": "af_heart(0.7)+bf_emma(0.3)",
        "offset": np.linspace(-1, 1, STYLE_SIZE, dtype=np.float32),
        "similarity": 0.61,
        "base_similarity": 0.2,
        "word_errors": 0.0,
        "steps": 60,
        "seed": 3,
    }
    return FittedStyle(**values | changes)


def report(**changes: object) -> dict[str, object]:
    return {"score": 1.0, KEY: style().as_report() | changes}


def encoded(values: np.ndarray) -> str:
    return base64.b64encode(values.astype("<f4").tobytes()).decode()


def test_a_style_comes_back_as_it_was():
    back = fitted_style(report())
    np.testing.assert_array_equal(back.offset, style().offset)
    assert (back.model, back.base, back.similarity, back.seed) == ("kokoro", style().base, 0.61, 3)


def test_a_voice_that_was_not_fitted_has_none():
    assert fitted_style({"score": 1.0}) is None


def test_what_is_not_known_about_its_words_is_kept_as_such():
    assert fitted_style({KEY: style(word_errors=None).as_report()}).word_errors is None


@each_row(
    "changes",
    [
        {"offset": "not base64!"},
        {"offset": encoded(np.zeros(3))},
        {"offset": encoded(np.full(STYLE_SIZE, np.nan))},
        {"offset": encoded(np.full(STYLE_SIZE, 1e6))},
        {"offset": None},
        {"similarity": float("inf")},
        {"similarity": "much"},
        {"steps": "many"},
    ],
)
def test_a_damaged_style_is_refused(changes):
    with pytest.raises(InvalidRequestError, match="fit it again"):
        fitted_style(report(**changes))


def test_a_style_without_its_parts_is_refused():
    with pytest.raises(InvalidRequestError):
        fitted_style({KEY: {}})
    with pytest.raises(InvalidRequestError):
        fitted_style({KEY: "style"})


def test_people_are_shown_everything_but_the_figures():
    shown = shown_report(report())
    assert shown["score"] == 1.0
    assert shown[KEY]["similarity"] == 0.61
    assert "offset" not in shown[KEY]


def exported(tmp_path, kept: dict[str, object]):
    """An archive with one voice that has this report."""
    store = FileVoiceStore(tmp_path / "voices")
    record = store.add(registration("Anna", pcm=noise(1, 2.0), report=kept)).record
    path = tmp_path / "anna.zip"
    write_archive(path, [(record, store.audio_file(record))])
    store.close()
    return path


def test_a_style_travels_in_an_export(tmp_path):
    (voice,) = read_archive(exported(tmp_path, {KEY: style().as_report()}), PromptLimits.of(load_settings()), "")
    np.testing.assert_array_equal(fitted_style(voice.report).offset, style().offset)


def test_a_damaged_style_in_an_export_is_refused(tmp_path):
    path = exported(tmp_path, {KEY: style().as_report() | {"offset": "AAAA"}})
    with pytest.raises(InvalidRequestError, match="fit it again"):
        list(read_archive(path, PromptLimits.of(load_settings()), ""))
