"""Chatterbox's S3Gen computes what the original computes, stage by stage."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from helpers.chatterbox_s3gen import config, int8_noise, phases, prompt, recorded, reference, s3gen, weights
from polyvox.engines.cosyvoice.features import sinc_resampled, whisper_log_mel
from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache
from polyvox.models.chatterbox.s3gen import load_s3gen
from polyvox.models.cosyvoice.flow import FlowPrompt
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.hift.model import Hift
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


def test_the_encoder_and_the_guided_flow_make_the_mel():
    known = recorded()
    flow = s3gen().flow
    tokens = torch.cat((prompt().tokens, known["tokens"][None]), dim=1)
    mu = flow.token_encoder(tokens, tokens[:, :0], LayerCache(update=False), BlockCausalMask(tokens.shape[1]))
    close(mu[0, :, 272:], known["mu"])
    close(flow.embed_speaker(prompt().embedding)[0], known["speaker"])
    close(flow_mel(known["tokens"], int8_noise(51100, (1, 80, 332)), prompt()), known["standard.mel"])


@pytest.mark.parametrize("steps", [1, 2])
def test_the_meanflow_makes_the_mel_in_one_step_or_two(steps: int):
    noise = int8_noise(52101, (1, 80, 332))
    noise[:, :, 280:] = int8_noise(52100, (1, 80, 52))
    mel = flow_mel(recorded()["tokens"], noise, prompt(), turbo=True, steps=steps)
    close(mel, recorded()[f"meanflow{steps}.mel"])


def test_one_call_of_each_estimator_gives_the_velocity():
    known = recorded()
    point = FlowPoint(*(known[f"estimator.{name}"][None] for name in ("x", "mu", "spks", "cond")))
    flow = s3gen(turbo=True).flow
    cache, mask = LayerCache(update=False), BlockCausalMask(30)
    close(flow.estimator(point, flow.time[1], cache, mask)[0], known["estimator.meanflow"])


def vocoded(vocoder: Hift, mel: Tensor, noise_seed: int, phase_seed: int) -> tuple[Tensor, Tensor]:
    noise = int8_noise(noise_seed, (1, 9, SAMPLES * mel.shape[1])).transpose(1, 2)
    source = vocoder.excitation(mel[None], noise, start=phases(phase_seed))
    return source[0], vocoder(mel[None], source)[0]


def test_the_vocoder_makes_source_and_samples_of_the_mel():
    known, vocoder = recorded(), s3gen().vocoder
    mel = known["standard.mel"]
    close(vocoder.pitch(mel[None], LayerCache(update=False))[0].float(), known["hift.f0"], 1e-3)
    close(phases(53510).flatten()[1:] * (2 * np.pi), known["hift.phases"][1:], 1e-6)
    source, samples = vocoded(vocoder, mel, 53100, 53510)
    close(source, known["hift.source"], 3e-4)
    close(samples, known["hift.wav"], 3e-4)
    close(vocoder(mel[None], known["hift.source"][None])[0], known["hift.wav"])


def test_tokens_and_a_voice_become_the_recorded_speech():
    known = recorded()
    mel = flow_mel(known["english.tokens"], int8_noise(63000, (1, 80, 352)), prompt())
    _, samples = vocoded(s3gen().vocoder, mel, 63001, 64000)
    wanted = known["english.wav"]
    close(samples[960:], wanted[960:], 3e-4)


def test_weights_of_the_other_kind_are_refused_by_name():
    with pytest.raises(WeightsError, match="mixer"):
        load_s3gen(config(), weights(turbo=True))
    with pytest.raises(WeightsError, match="mixer"):
        load_s3gen(config(turbo=True), weights())
