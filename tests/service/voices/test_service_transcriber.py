"""The networks for recordings: loaded on first use, and an error that names the fix where one is missing."""

import numpy as np
import pytest

from helpers.fakes import tone_settings
from polyvox.errors import BundleError, InvalidRequestError, UnavailableError
from polyvox.service.voices import transcriber as module
from polyvox.service.voices.transcriber import Transcriber
from polyvox.voices.recognition.recogniser import Recognition

SECOND = np.zeros(24_000, np.float32)


def test_a_missing_model_is_reported_with_its_fix_and_without_a_path(tmp_path):
    transcriber = Transcriber(tone_settings(models_dir=tmp_path))
    with pytest.raises(UnavailableError, match="run: polyvox pull moonshine-base") as missing:
        transcriber.transcribe(SECOND, 24_000)
    assert str(tmp_path) not in missing.value.message
    with pytest.raises(UnavailableError, match="moonshine-base"):
        transcriber.check_available()
    with pytest.raises(UnavailableError, match="run: polyvox pull whisper-base"):
        transcriber.check_available("fr")


def test_each_language_has_its_recogniser_and_a_missing_one_its_stand_in(tmp_path, monkeypatch):
    """English has one of its own; a recording of unknown language goes to the one that detects it."""
    there, calls = set(), []

    class Named:
        longest = 20.0

        def __init__(self, name: str) -> None:
            self.name = name

        def recognise(self, window, task, check):
            calls.append(task.language)
            return Recognition(self.name, task.language or "en")

    def shared(name, folder, load):
        if name not in there:
            raise BundleError(f"{name} is missing.")
        return Named(name)

    monkeypatch.setattr(module, "shared_recogniser", shared)
    rows = [
        ({"moonshine-base"}, {"en-US": "moonshine-base", "": "moonshine-base", None: "moonshine-base", "fr": None}),
        ({"whisper-base"}, {"en": "whisper-base", None: "whisper-base", "zh": "whisper-base"}),
        ({"moonshine-base", "whisper-base"}, {"en": "moonshine-base", None: "whisper-base", "fr": "whisper-base"}),
    ]
    for there, expected in rows:  # noqa: B007 - read by `shared`
        transcriber = Transcriber(tone_settings(models_dir=tmp_path))
        for language, name in expected.items():
            if name is None:
                with pytest.raises(UnavailableError):
                    transcriber.transcribe(SECOND, 24_000, language)
            else:
                assert transcriber.transcribe(SECOND, 24_000, language) == name
    assert calls[:2] == ["en", None]
    with pytest.raises(InvalidRequestError, match="no language that can be recognised"):
        transcriber.transcribe(SECOND, 24_000, "x-klingon")


def test_speech_is_found_on_a_stock_server(tmp_path):
    assert Transcriber(tone_settings(models_dir=tmp_path)).speech(SECOND, 24_000) == []


def test_there_is_no_embedding_without_its_model(tmp_path):
    assert Transcriber(tone_settings(models_dir=tmp_path)).embed(SECOND, 24_000) is None


@pytest.mark.slow
def test_too_short_a_recording_has_no_embedding(installed):
    folder = installed("campplus").folder.parent
    transcriber = Transcriber(tone_settings(models_dir=folder))
    assert transcriber.embed(SECOND[:100], 24_000) is None
    noise = np.random.default_rng(0).uniform(-0.3, 0.3, 24_000).astype(np.float32)
    assert transcriber.embed(noise, 24_000).shape == (192,)
