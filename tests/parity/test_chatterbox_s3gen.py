"""Chatterbox's S3Gen computes what the original computes, stage by stage."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from helpers.chatterbox_s3gen import config, int8_noise, phases, prompt, recorded, reference, s3gen, weights
from polyvox.engines.chatterbox.synthesis import fade_in
from polyvox.engines.cosyvoice.features import MEL_24K, mel_spectrogram, sinc_resampled, whisper_log_mel
from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache
from polyvox.models.chatterbox.s3gen import load_s3gen
from polyvox.models.cosyvoice.flow import FlowPrompt
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.loading import WeightsError

TOLERANCE = 1e-4
SAMPLES = 480


@pytest.fixture(autouse=True)
def _inference() -> Iterator[None]:
    with torch.inference_mode():
        yield


def close(got: Tensor, wanted: Tensor, tolerance: float = TOLERANCE) -> None:
    torch.testing.assert_close(got, wanted, rtol=0, atol=tolerance)


def flow_mel(tokens: Tensor, noise: Tensor, given: FlowPrompt, *, turbo: bool = False, steps: int = 2) -> Tensor:
    flow = s3gen(turbo=turbo, steps=steps).flow
    return flow.render(given, tokens[None], noise, streaming=False, final=True)[0]


def test_the_tokenizer_hears_the_tokens_of_the_recording():
    tokenizer, known = s3gen().tokenizer, recorded()
    log_mel = torch.from_numpy(whisper_log_mel(sinc_resampled(reference(), 24_000, 16_000)))
    rows = tokenizer.encode(log_mel)
    close(rows[:20], known["voice.encoder"])
    close(tokenizer.quantized(rows)[:140], known["voice.fsq"])
    assert tokenizer(log_mel)[:140].tolist() == known["voice.prompt_token"].tolist()


def test_the_encoder_makes_mu_and_the_speaker_is_projected() -> None:
    known, flow = recorded(), s3gen().flow
    tokens = torch.cat((prompt().tokens, known["tokens"][None]), dim=1)
    mu = flow.token_encoder(tokens, tokens[:, :0], LayerCache(update=False), BlockCausalMask(tokens.shape[1]))
    close(mu[0, :, 272:], known["mu"])
    close(flow.embed_speaker(prompt().embedding)[0], known["speaker"])


@pytest.mark.parametrize("steps", [1, 2])
def test_the_meanflow_makes_the_mel_in_one_step_or_two(steps: int):
    noise = int8_noise(52101, (1, 80, 332))
    noise[:, :, 280:] = int8_noise(52100, (1, 80, 52))
    mel = flow_mel(recorded()["tokens"].long(), noise, prompt(), turbo=True, steps=steps)
    close(mel, recorded()[f"meanflow{steps}.mel"])


def test_one_call_of_the_estimator_gives_the_mean_velocity() -> None:
    known = recorded()
    point = FlowPoint(*(known[f"estimator.{name}"][None] for name in ("x", "mu", "spks", "cond")))
    flow = s3gen(turbo=True).flow
    cache, mask = LayerCache(update=False), BlockCausalMask(30)
    close(flow.estimator(point, flow.time[1], cache, mask)[0], known["estimator.meanflow"])


def test_tokens_and_a_voice_become_the_recorded_speech() -> None:
    """From the recording to the samples, with the draws that were recorded."""
    known, gain = recorded(), np.float32(recorded()["turbo.loudness_gain"].item())
    mel = torch.from_numpy(mel_spectrogram(reference() * gain, MEL_24K, 8_000.0))[:, :280]
    close(mel.T[:20], known["turbo.prompt_feat"])
    voice = FlowPrompt(known["turbo.prompt_token"].long()[None], mel[None], known["turbo.embedding"][None])
    noise = int8_noise(69001, (1, 80, 404))
    noise[:, :, 280:] = int8_noise(69000, (1, 80, 124))
    made = flow_mel(known["turbo.tokens"].long(), noise, voice, turbo=True)
    close(made[:, :20], known["turbo.mel"])
    vocoder = s3gen().vocoder
    source = int8_noise(69002, (1, 9, SAMPLES * made.shape[1])).transpose(1, 2)
    excitation = vocoder.excitation(made[None], source, start=phases(70000))
    samples = vocoder(made[None], excitation)[0, :24_000]
    samples[:960] *= torch.from_numpy(fade_in())
    close(samples, known["turbo.wav"], 3e-4)
    close(phases(53510).flatten()[1:] * (2 * np.pi), known["hift.phases"][1:], 1e-6)


def test_weights_of_the_other_kind_are_refused_by_name():
    with pytest.raises(WeightsError, match="mixer"):
        load_s3gen(config(), weights(turbo=True))
    with pytest.raises(WeightsError, match="mixer"):
        load_s3gen(config(turbo=True), weights())
