"""The audible effect of each of ZipVoice's tuning parameters."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest
import torch

from helpers.tables import each_row
from helpers.zipvoice_fakes import FakeAcousticModel, constant_tone, fake_networks
from polyvox.engines.zipvoice.engine import FADE_SECONDS, ZipVoiceEngine
from polyvox.engines.zipvoice.tuning import ZipVoiceOptions, ZipVoiceTuning
from polyvox.engines.zipvoice.variants import VARIANTS
from polyvox.errors import InvalidRequestError
from polyvox.installation import load_settings
from polyvox.types import AudioChunk, Utterance, VoicePrompt

pytestmark = pytest.mark.anyio
RATE = 24_000
SENTENCES = "One day it rained. The next day it did not, and we went out to the boats. Then it rained again. " * 4


class FakeSpeaker:
    """An engine with fake networks, and one voice."""

    def __init__(self, engine: ZipVoiceEngine, acoustic_model: FakeAcousticModel) -> None:
        self.engine = engine
        self.acoustic_model = acoustic_model

    async def say(self, text: str, *, speed: float = 1.0, loud: float = 0.1, **tuning: float) -> list[AudioChunk]:
        recording = (np.sin(np.arange(RATE) * 0.05) * loud).astype(np.float32)
        voice = await self.engine.prepare(VoicePrompt(recording, RATE, "Hello there, it is me.", f"{loud}"))
        asked = Utterance(text, "mine", prepared=voice, seed=1, speed=speed, tuning={"num_steps": 1.0} | tuning)
        self.engine.check(asked)
        self.acoustic_model.steps = 0
        return [chunk async for chunk in self.engine.speak(asked)]


@asynccontextmanager
async def speaker(sound: Callable[[torch.Tensor], torch.Tensor] = constant_tone) -> AsyncIterator[FakeSpeaker]:
    networks, acoustic_model = fake_networks(sound)
    engine = ZipVoiceEngine(VARIANTS["zipvoice_distill"], load_settings(espeak="no-such-program"))
    await engine.start_with(networks, torch.device("cpu"))
    yield FakeSpeaker(engine, acoustic_model)
    await engine.close()


def with_a_gap(mel: torch.Tensor) -> torch.Tensor:
    """A tone with four seconds of silence in it."""
    return torch.cat((torch.full((RATE,), 0.1), torch.zeros(4 * RATE), torch.full((RATE,), 0.1)))


def seconds(chunks: list[AudioChunk]) -> float:
    return sum(chunk.duration for chunk in chunks)


@each_row("steps", [1, 4, 32])
async def test_num_steps_is_the_number_of_solver_steps(steps: int) -> None:
    async with speaker() as voice:
        assert len(await voice.say("Hello.", num_steps=steps)) == 1
        assert voice.acoustic_model.steps == steps


async def test_long_silences_are_cut_to_a_second_on_either_side_if_asked() -> None:
    async with speaker(with_a_gap) as voice:
        assert seconds(await voice.say("Hello.")) == pytest.approx(6.0, abs=0.02)
        assert seconds(await voice.say("Hello.", remove_long_silence=1.0)) == pytest.approx(4.0, abs=0.02)


async def test_chunks_are_as_long_as_max_duration_allows_with_the_prompt() -> None:
    async with speaker() as voice:
        longest = {
            most: max(chunk.duration for chunk in await voice.say(SENTENCES, max_duration=most)) for most in (8, 100)
        }
    assert longest[8] < 8.0 < longest[100] < 27.0


async def test_speed_shortens_what_is_said_and_nothing_else() -> None:
    async with speaker() as voice:
        once, twice = [seconds(await voice.say("We went out to the boats.", speed=speed)) for speed in (1.0, 2.0)]
    assert twice == pytest.approx(once / 2, abs=0.03)


async def test_a_soft_recording_is_raised_to_the_target_and_the_speech_lowered_by_as_much() -> None:
    async with speaker() as voice:
        peaks = {}
        for target in (0.1, 0.2):
            peaks[target] = max(
                float(chunk.pcm.max()) for chunk in await voice.say("Hello.", loud=0.05, target_rms=target)
            )
        prompts = [row.prompt.max().item() for row in voice.acoustic_model.inputs[-2:]]
    assert peaks[0.1] == pytest.approx(2 * peaks[0.2], rel=1e-3)
    assert prompts[1] - prompts[0] == pytest.approx(0.1 * np.log(2.0), abs=1e-3)  # the network's mels are a tenth


async def test_chunks_are_cross_faded() -> None:
    async with speaker() as voice:
        chunks = await voice.say(SENTENCES)
        alone = sum((row.frames - len(row.prompt) - 1) * 256 for row in voice.acoustic_model.inputs[2:])
    assert len(chunks) > 2
    heard = sum(len(chunk.pcm) for chunk in chunks)
    assert alone - heard == (len(chunks) - 1) * round(FADE_SECONDS * RATE)
    pcm = np.concatenate([chunk.pcm for chunk in chunks])
    np.testing.assert_allclose(pcm, pcm[0], atol=1e-6)  # two equal tones cross-faded are one


@each_row(
    ("name", "value", "message"),
    [
        ("num_steps", 33.0, "num_steps must lie between 1 and 32, not 33."),
        ("num_steps", 2.5, "num_steps must be a whole number, not 2.5."),
        ("num_steps", float("nan"), "num_steps must lie between 1 and 32, not nan."),
        ("guidance_scale", float("inf"), "guidance_scale must lie between 0 and 10, not inf."),
        ("t_shift", 0.01, "t_shift must lie between 0.05 and 1, not 0.01."),
        ("remove_long_silence", 2.0, "remove_long_silence must lie between 0 and 1, not 2."),
        ("max_duration", 0.5, "max_duration must lie between 1 and 1000, not 0.5."),
        ("target_rms", 0.0, "target_rms must lie between 0.001 and 0.5, not 0."),
    ],
)
def test_a_refusal_names_the_parameter_and_its_bounds(name: str, value: float, message: str) -> None:
    with pytest.raises(InvalidRequestError, match=f"^{re.escape(message)}$"):
        ZipVoiceTuning.of({name: value})


def test_parameters_that_are_not_given_have_the_models_defaults() -> None:
    base, distilled = VARIANTS["zipvoice"], VARIANTS["zipvoice_distill"]
    assert ZipVoiceTuning.of({"temperature": 3.0}).resolve(base) == ZipVoiceOptions(16, 1.0, 0.5, False, 25.0, 0.1)
    given = {"num_steps": 4.0, "guidance_scale": 0.0, "t_shift": 1.0, "remove_long_silence": 1.0, "max_duration": 8.0}
    options = ZipVoiceTuning.of(given | {"target_rms": 0.2}).resolve(distilled)
    assert options == ZipVoiceOptions(4, 0.0, 1.0, True, 8.0, 0.2)
