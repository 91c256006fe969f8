"""ZipVoice's dialogues with tiny networks: batched with others, and through the HTTP API."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch

from helpers.cloning import sample, studio_client
from helpers.serving import error_of
from helpers.zipvoice_bundle import write_model, write_vocoder
from polyvox.audio.pcm import from_pcm16
from polyvox.engines.zipvoice.bundle import load_networks
from polyvox.engines.zipvoice.engine import ZipVoiceEngine
from polyvox.engines.zipvoice.mel import BINS
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.variants import VARIANTS, Variant
from polyvox.engines.zipvoice.voice import ZipVoicePrompt, dialogue_prompt
from polyvox.installation import load_settings
from polyvox.types import PreparedVoice, Utterance, VoicePrompt

pytestmark = pytest.mark.anyio
CPU = torch.device("cpu")
MONO, STEREO, PLAIN = (VARIANTS[name] for name in ("zipvoice_dialog", "zipvoice_dialog_stereo", "zipvoice_distill"))
RATE = 24_000
SCRIPT = "[S1] Hello. [S2] Good morning to you. [S2] Well? [S1] Bye."


class ReadyEngine(ZipVoiceEngine):
    """Starts with networks that are loaded already, and without espeak-ng."""

    def __init__(self, variant: Variant, networks: ZipVoiceNetworks) -> None:
        super().__init__(variant, load_settings(espeak="no-such-program"))
        self._ready = networks

    async def start(self) -> None:
        await self.start_with(self._ready, CPU)


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ZipVoiceNetworks]:
    root = tmp_path_factory.mktemp("models")
    write_vocoder(root / "vocos")
    return {
        variant.name: load_networks(variant, write_model(root / variant.name, variant.name), root / "vocos", CPU)
        for variant in (MONO, STEREO)
    }


@pytest.fixture(params=[MONO, STEREO], ids=lambda variant: variant.name)
async def engine(request: Any, networks: dict[str, ZipVoiceNetworks]) -> AsyncIterator[ReadyEngine]:
    started = ReadyEngine(request.param, networks[request.param.name])
    await started.start()
    yield started
    await started.close()


async def prepared(engine: ZipVoiceEngine, transcript: str, pitch: float) -> PreparedVoice:
    pcm = (np.sin(np.arange(RATE) * pitch) * 0.05).astype(np.float32)
    return await engine.prepare(VoicePrompt(pcm, RATE, transcript, f"digest of {transcript}"))


async def pair(engine: ZipVoiceEngine) -> tuple[PreparedVoice, PreparedVoice]:
    return await prepared(engine, "Hello there, it is me.", 0.05), await prepared(engine, "Yes, it is.", 0.11)


async def spoken(engine: ZipVoiceEngine, voice: PreparedVoice, text: str, seed: int, steps: float = 2.0) -> np.ndarray:
    asked = Utterance(text, "mine", prepared=voice, seed=seed, tuning={"num_steps": steps})
    engine.check(asked)
    return np.concatenate([chunk.pcm async for chunk in engine.speak(asked)])


@pytest.mark.long
async def test_dialogues_and_single_voices_are_spoken_together_as_each_alone(engine: ReadyEngine) -> None:
    first, second = await pair(engine)
    both, swapped = engine.dialogue_voice(first, second), engine.dialogue_voice(second, first)
    asked = [
        (both, SCRIPT, 1, 2.0),
        (first, "Only me, all alone here.", 2, 3.0),
        (swapped, "[S2] You first. [S1] No, you.", 3, 1.0),
        (second, "[S1] Hm. [S2] Oh?", 4, 2.0),
    ]
    together = await asyncio.gather(*(spoken(engine, *each) for each in asked))
    for each, ours in zip(asked, together, strict=True):
        alone = await spoken(engine, *each)
        assert ours.shape == alone.shape
        np.testing.assert_allclose(ours, alone, atol=2e-4)


async def test_who_speaks_goes_by_the_voice_even_where_a_transcript_says_otherwise(engine: ReadyEngine) -> None:
    first = await prepared(engine, "[S2] Hello there. [S1] It is me.", 0.05)
    _, second = await pair(engine)
    both = engine.dialogue_voice(first, second)
    tags = engine._started().speaker_tags
    assert tags is not None
    found = [int(token) for token in both.arrays["tokens"] if int(token) in tags]
    assert found == list(tags)


def test_each_speaker_of_a_dialogue_is_on_their_own_channel() -> None:
    prompts = [ZipVoicePrompt((7,) * 4, np.full((10, BINS), value, np.float32), 0.1) for value in (-1.0, -2.0)]
    both = dialogue_prompt(prompts[0], prompts[1], (1, 2), channels=2)
    left, right = both.mel[:, :BINS], both.mel[:, BINS:]
    assert both.tokens == (1, 7, 7, 7, 7, 2, 7, 7, 7, 7)
    assert left[:10].max() == -1.0
    assert right[10:].max() == -2.0
    assert left[10:].max() == right[:10].max() == pytest.approx(np.log(1e-7), abs=1e-3)


async def register(client: httpx.AsyncClient, seed: int, name: str, transcript: str) -> httpx.Response:
    files = {"audio_file": ("s.wav", sample(seed))}
    return await client.post(
        "/v1/zipvoice/voices/register", data={"name": name, "transcription": transcript}, files=files
    )


@pytest.fixture(params=[MONO, STEREO], ids=lambda variant: variant.name)
async def client(
    request: Any, networks: dict[str, ZipVoiceNetworks], tmp_path: Path
) -> AsyncIterator[tuple[httpx.AsyncClient, int]]:
    engine: Any = ReadyEngine(request.param, networks[request.param.name])
    async with studio_client(tmp_path, engine, zipvoice_model="tone", zipvoice_num_steps=1) as (_, client):
        for seed, name in enumerate(("anna", "bert"), start=1):
            assert (await register(client, seed, name, f"I am {name}, hello.")).status_code == 200
        yield client, request.param.channels


@pytest.mark.long
async def test_a_dialogue_and_the_same_script_by_hand_are_the_same_speech(client: Any) -> None:
    http, channels = client
    shared = {"response_format": "pcm", "seed": 7, "num_steps": 2}
    turns = [{"voice": "bert", "text": "Hello."}, {"voice": "anna", "text": "Good morning to you."}]
    dialogue = await http.post("/v1/audio/dialogue", json={"turns": turns, **shared})
    assert dialogue.status_code == 200, dialogue.text
    assert dialogue.headers["X-Audio-Channels"] == str(channels)
    by_hand = {"input": "[S1] Hello.\n[S2] Good morning to you.", "voice": "bert,anna", **shared}
    script = await http.post("/v1/audio/speech", json=by_hand)
    ours, theirs = from_pcm16(dialogue.content), from_pcm16(script.content)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)
    if channels == 2:
        sides = ours.reshape(-1, 2)
        assert np.abs(sides[:, 0] - sides[:, 1]).max() > 1e-3


@pytest.mark.long
async def test_a_pause_that_was_asked_for_is_silence_between_the_speakers(client: Any) -> None:
    http, channels = client
    turns = [{"voice": "bert", "text": "Hello."}, {"voice": "anna", "text": "Good morning."}]
    body = {"turns": turns, "pause": 0.75, "num_steps": 1, "response_format": "pcm"}
    pcm = from_pcm16((await http.post("/v1/audio/dialogue", json=body)).content).reshape(-1, channels)
    silent = np.flatnonzero(np.diff(np.concatenate(([0], ~pcm.any(axis=1), [0]))))
    assert max(silent[1::2] - silent[::2]) >= round(0.75 * RATE)


@pytest.mark.long
async def test_the_zipvoice_dialect_speaks(client: Any) -> None:
    http, channels = client
    body = {"input": "Hello, world!", "voice": "anna", "response_format": "pcm", "seed": 3, "target_rms": 0.2}
    response = await http.post("/v1/zipvoice/audio/speech", json=body)
    assert response.status_code == 200, response.text
    assert len(response.content) > 0.2 * RATE * 2 * channels


@pytest.mark.parametrize("path", ["/v1/audio/dialogue", "/v1/audio/speech"])
async def test_tuning_out_of_range_is_refused_on_every_path(client: Any, path: str) -> None:
    http, _ = client
    body: dict[str, Any] = {"turns": [{"voice": "anna", "text": "Hi."}], "input": "Hi.", "voice": "anna"}
    for field, value in [
        ("num_steps", 0),
        ("num_steps", 33),
        ("num_steps", 2.5),
        ("guidance_scale", 11),
        ("target_rms", 0.9),
        ("t_shift", 0),
        ("max_duration", 0.5),
        ("lang_code", "f"),
    ]:
        refused = await http.post(path, json=body | {field: value})
        assert refused.status_code == 400
        assert error_of(refused)["param"] == field


async def test_a_voice_whose_transcript_cannot_be_spoken_is_named_with_its_turn(client: Any) -> None:
    http, _ = client
    turns = [{"voice": "anna", "text": "Hi."}, {"voice": "bert", "text": "Hi.", "prompt_text": "…!"}]
    refused = await http.post("/v1/audio/dialogue", json={"turns": turns})
    assert refused.status_code == 400
    assert error_of(refused)["param"] == "turns[1].prompt_text"
