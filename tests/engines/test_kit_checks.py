"""Checks that engines share."""

import numpy as np
import pytest

from polyvox.engines.kit.checks import check_engine, check_recording, known_voice
from polyvox.errors import InvalidRequestError, PromptError, UnknownVoiceError
from polyvox.types import PreparedVoice, Voice, VoicePrompt

VOICES = (Voice("ann", "Ann", "en"), Voice("ben", "Ben", "en"))


def test_a_recording_is_neither_too_long_nor_too_short() -> None:
    for seconds, error in ((0.4, "too short"), (30.1, "30 are the most")):
        with pytest.raises(PromptError, match=error):
            check_recording(VoicePrompt(np.zeros(int(seconds * 8000), np.float32), 8000, "", ""))
    for seconds in (0.5, 30.0):
        check_recording(VoicePrompt(np.zeros(int(seconds * 8000), np.float32), 8000, "", ""))


def test_a_voice_is_spoken_by_the_model_that_prepared_it() -> None:
    voice = PreparedVoice("kettle", "0", {})
    check_engine(voice, "kettle")
    with pytest.raises(InvalidRequestError, match="prepared for 'kettle', not for 'teapot'"):
        check_engine(voice, "teapot")


def test_a_voice_is_found_in_any_case_and_an_unknown_one_names_the_others() -> None:
    assert known_voice("Ann", VOICES, "") == "ann"
    with pytest.raises(UnknownVoiceError, match="use one of ann, ben"):
        known_voice("cid", VOICES, "register one")
    with pytest.raises(UnknownVoiceError, match="register one"):
        known_voice("cid", (), "register one")
