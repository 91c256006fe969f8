"""Qwen3-TTS' speech tokenizer and speaker encoder compute what the original computes, whole and in pieces."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor

from helpers.qwen3tts_golden import (
    codec_decoder,
    codec_encoder,
    golden,
    speaker_encoder,
    tokenizer_config,
    tokenizer_weights,
)
from polyvox.models.loading import WeightsError
from polyvox.models.qwen3tts.codec_decoder import load_codec_decoder
from polyvox.models.qwen3tts.codec_encoder import load_codec_encoder
from polyvox.models.qwen3tts.speaker_encoder import log_mel
from polyvox.models.stream_state import StreamState

TOLERANCE = 2e-5


def close(got: Tensor, wanted: Tensor, tolerance: float = TOLERANCE) -> None:
    torch.testing.assert_close(got, wanted, rtol=0, atol=tolerance)


@pytest.fixture(autouse=True)
def _inference() -> object:
    with torch.inference_mode():
        yield


def decoded(codes: Tensor, cuts: tuple[int, ...]) -> Tensor:
    decoder = codec_decoder()
    state, parts = decoder.begin(len(codes)), []
    for start, end in pairwise(cuts):
        samples, state = decoder(codes[:, start:end], state)
        parts.append(samples)
    return torch.cat(parts, dim=1)


def test_codes_become_the_originals_samples() -> None:
    found = golden("codec_decoder")
    close(decoded(found["r30.codes"].long()[None], (0, 30))[0], found["r30.wav_whole"])


@pytest.mark.long
def test_a_stream_in_pieces_equals_the_whole() -> None:
    found = golden("codec_decoder")
    codes = found["r30.codes"].long()[None]
    for cuts in (tuple(range(31)), (0, 1, 3, 7, 15, 30), (0, 29, 30)):
        close(decoded(codes, cuts)[0], found["r30.wav_whole"])


@pytest.mark.long
def test_there_is_no_seam_in_a_long_stream() -> None:
    found = golden("codec_decoder")
    codes = found["r312.codes"].long()[None]
    samples = decoded(codes, (*range(0, 312, 25), 312))[0, -len(found["r312.wav_whole"]) :]
    close(samples, found["r312.wav_whole"])


def test_streams_of_different_age_share_a_batch_unchanged() -> None:
    codes = golden("codec_decoder")["r30.codes"].long()[None]
    decoder, states, alone = codec_decoder(), [], []
    for age in (0, 3, 24):
        state = decoder.begin(1)
        if age:
            _, state = decoder(codes[:, :age], state)
        states.append(state)
        alone.append(decoder(codes[:, age : age + 4], state)[0])
    kept = tuple(torch.cat(each) for each in zip(*(state.kept for state in states), strict=True))
    together = StreamState(torch.cat([state.positions for state in states]), kept)
    rows = torch.cat([codes[:, age : age + 4] for age in (0, 3, 24)])
    close(decoder(rows, together)[0], torch.cat(alone))


def test_a_recording_becomes_the_originals_codes_stage_by_stage() -> None:
    found, encoder = golden("codec_encoder"), codec_encoder()
    for name in ("a", "b"):
        samples = found[f"{name}.wav"]
        columns = encoder.convolutions(samples[None, None])
        close(columns, found[f"{name}.conv_out"])
        close(encoder.transform(columns.transpose(1, 2)), found[f"{name}.transformer_out"])
        close(encoder.latents(samples).T[None], found[f"{name}.downsampled"])
        assert torch.equal(encoder(samples).int(), found[f"{name}.codes"])


def test_a_recording_becomes_the_originals_voice() -> None:
    found, encoder = golden("speaker"), speaker_encoder()
    # Where there is next to nothing to hear, a logarithm shows how a processor's FFT rounds.
    close(log_mel(found["a.wav"][None], 128).transpose(1, 2).exp(), found["a.mel"].exp(), 1e-5)
    for name in ("a", "b"):
        close(encoder(found[f"{name}.wav"][None])[0], found[f"{name}.embedding"])


def test_weights_that_lack_a_codebook_are_refused_by_name() -> None:
    config = tokenizer_config()
    for load, sizes, name in (
        (load_codec_decoder, config.decoder, "decoder.quantizer.rvq_rest.vq.layers.1._codebook.embedding_sum"),
        (load_codec_encoder, config.encoder, "encoder.downsample.conv.weight"),
    ):
        given = {key: tensor for key, tensor in tokenizer_weights().items() if key != name}
        with pytest.raises(WeightsError, match=r"rvq_rest\.vq\.layers\.1|downsample"):
            load(sizes, given)
