"""The networks for recordings: loaded on first use, and an error that names the fix where one is missing."""

import numpy as np
import pytest

from helpers.fakes import tone_settings
from polyvox.errors import UnavailableError
from polyvox.service.voices.transcriber import Transcriber

SECOND = np.zeros(24_000, np.float32)


def test_a_missing_model_is_reported_with_its_fix_and_without_a_path(tmp_path):
    transcriber = Transcriber(tone_settings(models_dir=tmp_path))
    with pytest.raises(UnavailableError, match="run: polyvox pull moonshine-base") as missing:
        transcriber.transcribe(SECOND, 24_000)
    assert str(tmp_path) not in missing.value.message
    with pytest.raises(UnavailableError, match="moonshine-base"):
        transcriber.check_available()


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
