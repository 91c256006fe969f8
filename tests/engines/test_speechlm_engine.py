"""The codec language model end to end, on a tiny seeded model: here, and with its language model on a server."""

import asyncio
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from helpers.faulty_lm_server import faulty_server, speech
from helpers.tiny_speechlm import tiny_speechlm_settings, write_encoder, write_tiny_codec, write_tiny_model
from polyvox.engines.catalog import Catalog
from polyvox.engines.speechlm.engine import SpeechLmEngine
from polyvox.errors import (
    DeadlineError,
    EngineError,
    InvalidRequestError,
    PromptError,
    TextError,
    UnavailableError,
    UnknownVoiceError,
)
from polyvox.types import NormalizationOptions, Span, Utterance, VoicePrompt

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parents[1] / "golden" / "ttsapi_stream"
HOP = 480
# The tiny model seldom ends by itself.
LONG = {"text": "Selamat pagi semua.", "voice": "husein", "seed": 5}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return write_tiny_model(tmp_path_factory.mktemp("models"))


@asynccontextmanager
async def engine(models_dir, observer=None, **settings):
    made = Catalog.installed().factories["speechlm"](tiny_speechlm_settings(models_dir, **settings))
    assert isinstance(made, SpeechLmEngine)
    if observer is not None:
        made.observe(observer)
    await made.start()
    try:
        yield made
        assert made._running is not None
        source = made._running.source
        assert (getattr(source, "running", 0), getattr(source, "waiting", 0)) == (0, 0)
        assert len(made._running.stages.codec) == 0
    finally:
        await made.close()


async def spoken(made, **utterance):
    return [chunk async for chunk in made.speak(Utterance(**{**LONG, **utterance}))]


def samples(chunks):
    return np.concatenate([chunk.pcm for chunk in chunks])


@pytest.mark.long
async def test_an_utterance_becomes_chunks_that_follow_each_other(models):
    async with engine(models) as made:
        chunks = await spoken(made, tuning={"max_tokens": 150, "temperature": 1.5})
        assert made.location.device == "cpu"
    total = sum(len(chunk.pcm) for chunk in chunks)
    assert total == HOP * chunks[-1].tokens.end
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(later.start == earlier.end for earlier, later in pairwise(chunks))
    assert [chunk.tokens.start for chunk in chunks] == [0, *(chunk.tokens.end for chunk in chunks[:-1])]
    assert (chunks[0].text, chunks[0].span) == ("Selamat pagi semua.", Span(0, 19))
    assert all(chunk.text == "" for chunk in chunks[1:])
    assert all(chunk.device_seconds > 0 for chunk in chunks)
    assert all(chunk.stages.lm.device > 0 and chunk.stages.vocoder.device > 0 for chunk in chunks)
    assert all(chunk.stages.flow is None for chunk in chunks)
    assert len(chunks) > 1


@pytest.mark.long
async def test_the_same_seed_says_the_same_alone_and_in_a_batch(models):
    voices, tuning = ["husein", "idayu", "jenny"], {"max_tokens": 60, "temperature": 1.2}
    wishes = [
        {"text": f"Ayat nombor {place}.", "voice": voices[place % 3], "seed": place, "tuning": tuning}
        for place in range(9)
    ]
    async with engine(models, speechlm_codec_wait=0.01) as made:
        alone = [samples(await spoken(made, **wish)) for wish in wishes]
        together = await asyncio.gather(*(spoken(made, **wish) for wish in wishes))
        again = samples(await spoken(made, **wishes[0]))
        other = samples(await spoken(made, **{**wishes[0], "seed": 99}))
    for one, chunks in zip(alone, together, strict=True):
        np.testing.assert_allclose(samples(chunks), one, atol=2e-5)
    np.testing.assert_allclose(again, alone[0], atol=2e-5)
    assert len(other) != len(again) or np.abs(other - again).max() > 1e-3


@pytest.mark.long
async def test_of_texts_that_are_read_together_only_those_at_fault_fail(models):
    tuning = {"max_tokens": 5}
    async with engine(models) as made:
        foreign = made.voice_from_codes([5, 512], "Ini suara saya.")
        given = [{"prepared": foreign} if place % 3 == 1 else {} for place in range(12)]
        found = await asyncio.gather(*(spoken(made, tuning=tuning, **each) for each in given), return_exceptions=True)
    assert [isinstance(each, PromptError) for each in found] == ["prepared" in each for each in given]


@pytest.mark.long
async def test_windows_of_many_sessions_share_a_call(models):
    reports = []
    async with engine(models, reports.append, speechlm_codec_wait=0.02) as made:
        tuning = {"max_tokens": 30, "temperature": 1.5}
        await asyncio.gather(*(spoken(made, seed=seed, tuning=tuning) for seed in range(6)))
    most = {}
    for report in reports:
        most[report.stage] = max(most.get(report.stage, 0), report.size)
    assert most["speechlm codec"] > 1
    assert most["speechlm decode"] > 1
    assert most["speechlm prefill"] > 1


@pytest.mark.long
async def test_a_long_text_is_spoken_in_pieces_within_the_tokens_that_are_allowed(models):
    text = " ".join(f"Ini ayat yang ke {place} dalam teks ini." for place in range(40))
    async with engine(models, speechlm_max_tokens=12) as made:
        chunks = await spoken(made, text=text, tuning={"temperature": 1.5})
        bounded = await spoken(made, text=text, tuning={"max_tokens": 20, "temperature": 1.5})
    spans = [chunk.span for chunk in chunks if chunk.span]
    assert len(spans) > 2
    assert spans[0].start == 0
    assert spans[-1].end == len(text)
    assert all(later.start >= earlier.end for earlier, later in pairwise(spans))
    assert bounded[-1].tokens.end == 20


async def test_a_pause_is_silence_of_its_length(models):
    async with engine(models, speechlm_max_tokens=12) as made:
        chunks = await spoken(made, text="Satu [pause:250ms] dua")
    silent = [chunk for chunk in chunks if not chunk.pcm.any()]
    assert [len(chunk.pcm) for chunk in silent] == [6_000]
    assert 0 < silent[0].index < len(chunks) - 1


@pytest.mark.long
async def test_a_voice_of_tokens_speaks_and_its_prompt_is_read_once(models):
    reports = []
    async with engine(models, reports.append) as made:
        voice = made.voice_from_codes(range(100, 200), "Ini suara saya.")
        assert voice.digest == made.voice_from_codes(list(range(100, 200)), "Ini suara saya.").digest
        reads = []
        for text in ("Apa khabar?", "Selamat jalan."):
            reports.clear()
            chunks = await spoken(made, text=text, voice="mine", prepared=voice, tuning={"max_tokens": 20})
            assert samples(chunks).size > 0
            reads.append(sum(report.size for report in reports if report.stage == "speechlm prefill"))
    assert reads[0] > 100
    assert reads[1] < 40


@pytest.mark.long
async def test_tokens_that_the_model_does_not_have_are_refused(models):
    async with engine(models) as made:
        voice = made.voice_from_codes([5, 512], "Ini suara saya.")
        with pytest.raises(PromptError, match="511"):
            await spoken(made, prepared=voice)


async def test_a_recording_needs_the_encoder(models):
    prompt = VoicePrompt(np.zeros(24_000, np.float32), 24_000, "Hello.", "abc")
    async with engine(models) as made:
        with pytest.raises(UnavailableError, match=r"encoder\.onnx"):
            await made.prepare(prompt)


async def test_a_recording_is_heard_where_the_encoder_is_there(tmp_path):
    write_tiny_model(tmp_path)
    write_encoder(tmp_path / "neucodec" / "encoder.onnx")
    prompt = VoicePrompt(np.full(48_000, 0.25, np.float32), 24_000, "Hello.", "abc")
    async with engine(tmp_path) as made:
        voice = await made.prepare(prompt)
        assert voice.digest == "abc"
        assert len(voice.arrays["codes"]) == 100
        assert np.median(voice.arrays["codes"]) == 450
        assert await spoken(made, prepared=voice, tuning={"max_tokens": 5})
        with pytest.raises(PromptError, match="between 0 and"):
            await made.prepare(VoicePrompt(-prompt.pcm, 24_000, "Hello.", "abc"))


async def test_what_cannot_be_spoken_is_told_before_any_work(models):
    async with engine(models) as made:
        with pytest.raises(UnknownVoiceError, match="husein, idayu, jenny"):
            made.check(Utterance("Hello.", "nobody"))
        with pytest.raises(InvalidRequestError, match="playback_speed"):
            made.check(Utterance("Hello.", "husein", tuning={"playback_speed": 0.0}))
        with pytest.raises(TextError, match="no word"):
            await spoken(made, text="*** ---")
        assert [voice.id for voice in made.voices] == ["husein", "idayu", "jenny"]


async def test_a_listener_who_leaves_frees_everything_at_once(models):
    async with engine(models) as made:
        chunks = made.speak(Utterance(**LONG, tuning={"playback_speed": 0.1, "temperature": 1.5}))
        await anext(chunks)
        assert made._running.source.running == 1
        await chunks.aclose()
        assert made._running.source.running == 0


@pytest.mark.long
async def test_more_utterances_than_slots_wait_their_turn(models):
    # Room for two sequences and the spare one.
    each = 2 * 2 * 2 * 8 * (2048 + 200) * 4
    async with engine(models, speechlm_cache_bytes=max(1 << 20, 3 * each)) as made:
        slots = made._running.source._config.slots
        count = 3 * slots
        done = await asyncio.gather(*(spoken(made, seed=seed, tuning={"max_tokens": 8}) for seed in range(count)))
    assert slots < 32
    assert len(done) == count


# With the language model on a server


@pytest.fixture(scope="module")
def codec_only(tmp_path_factory):
    folder = tmp_path_factory.mktemp("codec")
    write_tiny_codec(folder / "neucodec")
    return folder


def says(*texts):
    async def scene(client):
        await client.head()
        await client.texts(*texts, end="stop")

    return scene


@asynccontextmanager
async def on_server(models_dir, *scenes, **settings):
    async with faulty_server(*scenes) as server:
        quick = {"speechlm_first_token_seconds": 1.0, "speechlm_stall_seconds": 0.3}
        async with engine(models_dir, speechlm_url=server.url, **{**quick, **settings}) as made:
            yield made, server


def as_the_original_writes(pcm):
    return (np.clip(pcm, -1, 1) * 32767).astype(np.int16)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "playback_speed", "overlap"),
    [
        ("ps1.5_ov0.2", 1.5, 0.2),
        ("ps0.5_ov0.1", 0.5, 0.1),
        ("ps0.1_ov0.02", 0.1, 0.02),
        ("ps2.0_ov0.0", 2.0, 0.0),
        ("ps10.0_ov0.2", 10.0, 0.2),
        ("ragged_deltas", 0.5, 0.1),
        ("exact_multiple", 1.0, 0.2),
        ("short", 1.5, 0.2),
    ],
)
async def test_samples_and_chunks_are_those_of_the_original_server(codec_only, name, playback_speed, overlap):
    expected = load_file(GOLDEN / f"{name}.safetensors")
    text = speech(expected["ids"].tolist())
    deltas = [text[place : place + 7] for place in range(0, len(text), 7)]
    tuning = {"playback_speed": playback_speed, "playback_overlap_speed": overlap, "temperature": 0.7}
    async with on_server(codec_only, says(*deltas)) as (made, server):
        chunks = await spoken(made, text="Hello there", seed=None, tuning=tuning)
    assert server.asked[0].body == {
        "model": "TTS-model",
        "prompt": "<|im_start|>husein: Hello there.<|speech_start|>",
        "max_tokens": 200,
        "temperature": 0.7,
        "repetition_penalty": 1.15,
        "stream": True,
    }
    assert [2 * len(chunk.pcm) for chunk in chunks] == expected["chunk_bytes"].tolist()
    steps = np.abs(as_the_original_writes(samples(chunks)).astype(int) - expected["pcm"])
    assert steps.max() <= 1
    assert (steps > 0).mean() < 1e-3


async def test_a_cloned_voice_is_asked_for_in_the_original_s_words(codec_only):
    async with on_server(codec_only, says(speech([1, 2, 3]))) as (made, server):
        voice = made.voice_from_codes([5, 0, 7], "**Selamat** pagi")
        await spoken(made, text="Apa khabar?", prepared=voice)
    assert server.asked[0].body["prompt"] == (
        "<|im_start|>Selamat pagi.<|speech_start|><|s_5|><|s_0|><|s_7|><|im_end|>"
        "<|im_start|>Apa khabar?<|speech_start|>"
    )


async def test_text_is_read_out_before_it_is_asked_for(codec_only):
    async with on_server(codec_only, says(speech([1]))) as (made, server):
        await spoken(made, text="Harga RM5")
        await spoken(made, text="Harga RM5", normalization=NormalizationOptions(normalize=False))
    assert [client.body["prompt"].partition(": ")[2] for client in server.asked] == [
        "Harga lima ringgit.<|speech_start|>",
        "Harga RM5.<|speech_start|>",
    ]


async def test_the_address_of_the_server_may_end_in_its_path(codec_only):
    async with faulty_server(says(speech([1]))) as server:
        url = f"{server.url}/v1/completions"
        async with engine(codec_only, speechlm_url=url, speechlm_api_key="secret") as made:
            await spoken(made)
        assert server.asked[0].headers["authorization"] == "bearer secret"


async def _silent(client):
    await client.left()


async def _breaks(client):
    await client.head()
    await client.texts(speech(range(40)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("scene", "error", "words"),
    [
        (says(), EngineError, "ended before it spoke"),
        (says("<|s_99999|>"), EngineError, "99999"),
        (says("la la la " * 200), EngineError, "text instead of speech"),
        (_silent, DeadlineError, "no token within"),
        (_breaks, EngineError, "in the middle"),
    ],
)
async def test_a_server_s_faults_are_told_and_leave_nothing_behind(codec_only, scene, error, words):
    async with on_server(codec_only, scene) as (made, _):
        with pytest.raises(error, match=words):
            await spoken(made)


async def test_what_came_before_a_fault_is_heard(codec_only):
    async with on_server(codec_only, _breaks) as (made, _):
        heard = []

        async def listen():
            async for chunk in made.speak(Utterance("Hello.", "husein", tuning={"playback_speed": 0.1})):
                heard.append(len(chunk.pcm))

        with pytest.raises(EngineError, match="in the middle"):
            await listen()
    assert sum(heard) > 10_000
