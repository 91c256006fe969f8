"""The networks for recordings: looked for when they are needed, and missed with a remedy."""

import numpy as np
import pytest

from helpers.fakes import tone_settings
from polyvox.errors import UnavailableError
from polyvox.service.ears import Ears

SECOND = np.zeros(24_000, np.float32)


def test_what_is_missing_is_named_with_its_remedy_and_without_a_path(tmp_path):
    ears = Ears(tone_settings(models_dir=tmp_path))
    for listen, model in ((ears.speech, "silero-vad"), (ears.transcribe, "moonshine-base")):
        with pytest.raises(UnavailableError, match=f"run: polyvox pull {model}") as missing:
            listen(SECOND, 24_000)
        assert str(tmp_path) not in missing.value.message
    with pytest.raises(UnavailableError, match="moonshine-base"):
        ears.check_words()


def test_speakers_are_compared_only_where_that_can_be_done(tmp_path):
    assert Ears(tone_settings(models_dir=tmp_path)).embed(SECOND, 24_000) is None


@pytest.mark.slow
def test_a_moment_has_no_speaker(installed):
    folder = installed("campplus").folder.parent
    ears = Ears(tone_settings(models_dir=folder))
    assert ears.embed(SECOND[:100], 24_000) is None
    noise = np.random.default_rng(0).uniform(-0.3, 0.3, 24_000).astype(np.float32)
    assert ears.embed(noise, 24_000).shape == (192,)
