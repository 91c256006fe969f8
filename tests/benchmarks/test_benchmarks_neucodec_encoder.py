"""The encoder's benchmark on tiny sizes."""

import pytest

torch = pytest.importorskip("torch")

from benchmarks.neucodec_encoder import changed_by_precision, measured, random_encoder  # noqa: E402
from polyvox.models.speechlm.acoustic_encoder import AcousticEncoderConfig  # noqa: E402
from polyvox.models.speechlm.neucodec_encoder import NeuCodecEncoderConfig  # noqa: E402
from polyvox.models.speechlm.w2v_bert import W2vBertConfig  # noqa: E402

TINY = NeuCodecEncoderConfig(W2vBertConfig(16, 24, 4, layers=2), AcousticEncoderConfig(width=2, outputs=12), hidden=32)


def test_a_recording_is_encoded_whole_and_the_cost_is_told():
    figures = measured(random_encoder(TINY, torch.device("cpu")), 1.0)
    assert figures.tokens == 50
    assert figures.seconds > 0
    assert figures.megabytes > 10


@pytest.mark.long
def test_full_precision_changes_nothing_and_eight_bits_of_mantissa_do():
    encoder = random_encoder(TINY, torch.device("cpu"))
    assert changed_by_precision(encoder, 4.0, torch.float32) == 0
    assert 0 < changed_by_precision(encoder, 4.0, torch.bfloat16) < 0.9
