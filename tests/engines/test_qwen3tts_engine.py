"""The engine of Qwen3-TTS on tiny models: every way to speak, and what shares a batch changes nothing."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from helpers.qwen3tts_golden import golden
from helpers.tiny_qwen3tts import TINY, install, settings, tiny_engine
from polyvox.cli.main import app
from polyvox.engines.catalog import Catalog
from polyvox.engines.qwen3tts.engine import Qwen3TtsEngine
from polyvox.engines.qwen3tts.room import fitting_streams
from polyvox.engines.qwen3tts.variants import VARIANTS
from polyvox.errors import BundleError, InvalidRequestError, PromptError, SilentTextError, UnknownVoiceError
from polyvox.types import AudioChunk, NormalizationOptions, Pcm, Utterance, VoicePrompt

pytestmark = pytest.mark.anyio
GREEDY = {"temperature": 0.0, "subtalker_temperature": 0.0}
CUSTOM, DESIGN, BASE = "qwen3tts-1.7b-custom-voice", "qwen3tts-1.7b-voice-design", "qwen3tts-0.6b"


async def chunks_of(speech: AsyncIterator[AudioChunk]) -> list[AudioChunk]:
    return [chunk async for chunk in speech]


def joined(chunks: list[AudioChunk]) -> Pcm:
    return np.concatenate([chunk.pcm for chunk in chunks])


def recording(name: str, transcript: str) -> VoicePrompt:
    return VoicePrompt(golden("e2e")[f"wav_{name}"].numpy(), 24_000, transcript, f"digest-{name}-{transcript}")


async def pieces(*texts: str) -> AsyncIterator[str]:
    for text in texts:
        yield text


@pytest.mark.long
async def test_a_speaker_says_what_the_original_says(tmp_path: Path) -> None:
    async with tiny_engine(CUSTOM, tmp_path, qwen3tts_max_frames=31) as engine:
        as_it_is = NormalizationOptions(normalize=False)
        utterance = Utterance(
            "你好 the test.", "Dylan", instructions="Speak slowly.", tuning=GREEDY, normalization=as_it_is
        )
        # The original reads the text as it is; ours says the same where nothing in it is normalised.
        chunks = await chunks_of(engine.speak(utterance))
    wanted = golden("e2e")["cv_dialect_instruct.wav"].numpy()
    np.testing.assert_allclose(joined(chunks), wanted, atol=2e-5)


@pytest.mark.long
async def test_a_cloned_voice_goes_on_where_its_recording_ends(tmp_path: Path) -> None:
    async with tiny_engine(BASE, tmp_path, qwen3tts_max_frames=31) as engine:
        voice = await engine.prepare(recording("a", "the sound"))
        text = "Hello there, this is a longer test for the voice."
        chunks = await chunks_of(engine.speak(Utterance(text, "", language="en", prepared=voice, tuning=GREEDY)))
    np.testing.assert_allclose(joined(chunks), golden("e2e")["icl_stream_long.wav"].numpy(), atol=5e-5)


@pytest.mark.long
async def test_chunks_grow_and_depend_on_text_and_seed_alone(tmp_path: Path) -> None:
    async with tiny_engine(CUSTOM, tmp_path) as engine:
        ask = Utterance("Hi there, this is the test.", "vivian", language="en", seed=5)
        alone = await chunks_of(engine.speak(ask))
        others = [chunks_of(engine.speak(Utterance("One two three.", "ryan", seed=seed))) for seed in (1, 2, 3)]
        together, *rest = await asyncio.gather(chunks_of(engine.speak(ask)), *others)
    sizes = [len(chunk.pcm) // 1920 for chunk in alone]
    assert sizes[:4] == [1, 2, 4, 8]
    assert [len(chunk.pcm) for chunk in together] == [len(chunk.pcm) for chunk in alone]
    np.testing.assert_allclose(joined(together), joined(alone), atol=2e-5)
    assert len({joined(each).tobytes() for each in rest}) == len(rest)
    assert alone[0].text == "Hi there, this is the test."


@pytest.mark.long
async def test_text_in_fragments_is_spoken_before_it_ends(tmp_path: Path) -> None:
    async with tiny_engine(CUSTOM, tmp_path, qwen3tts_layout="streaming") as engine:
        ask = Utterance("", "ryan", language="en", tuning=GREEDY)
        heard, gate = asyncio.Event(), asyncio.Event()

        async def arriving() -> AsyncIterator[str]:
            yield "Well my friend, "
            yield "this is quite "
            await gate.wait()
            assert heard.is_set(), "audio came before the sentence was complete"
            yield "a long one."

        chunks = []
        async for chunk in engine.speak_stream(ask, arriving()):
            chunks.append(chunk)
            heard.set()
            gate.set()
        assert chunks[-1].text == "Well my friend, this is quite a long one."
        again = await chunks_of(engine.speak_stream(ask, pieces("Well my fr", "iend, this is qu", "ite a long one.")))
    np.testing.assert_allclose(joined(again), joined(chunks), atol=2e-5)


@pytest.mark.long
async def test_a_sentence_without_an_end_is_spoken_in_parts_and_none_of_it_is_lost(tmp_path: Path) -> None:
    async with tiny_engine(CUSTOM, tmp_path, qwen3tts_max_frames=25) as engine:
        text = "so it goes on and on " * 30
        spoken = await chunks_of(engine.speak_stream(Utterance("", "ryan", language="en"), pieces(text)))
    parts = [chunk.text for chunk in spoken if chunk.text]
    assert len(parts) > 1
    assert " ".join(parts).split() == text.split()


@pytest.mark.long
async def test_the_last_chunk_has_the_text_wherever_speech_ends(tmp_path: Path) -> None:
    async with tiny_engine(CUSTOM, tmp_path) as engine:
        for most in range(3, 9):
            utterance = Utterance("", "ryan", language="en", seed=1, tuning={"max_new_tokens": most})
            spoken = await chunks_of(engine.speak_stream(utterance, pieces("So it goes on.")))
            assert spoken[-1].text == "So it goes on."


@pytest.mark.long
async def test_a_design_follows_its_description(tmp_path: Path) -> None:
    async with tiny_engine(DESIGN, tmp_path) as engine:
        assert [voice.id for voice in engine.voices] == ["designed"]
        spoken = {
            wish: joined(await chunks_of(engine.speak(Utterance("One.", "designed", instructions=wish, tuning=GREEDY))))
            for wish in ("A warm old voice.", "A child.", None)
        }
    assert len({audio.tobytes() for audio in spoken.values()}) == 3


@pytest.mark.long
async def test_a_voice_needs_no_transcript(tmp_path: Path) -> None:
    async with tiny_engine(BASE, tmp_path) as engine:
        voice = await engine.prepare(recording("b", ""))
        assert voice.arrays["frames"].shape == (0, 4)
        assert await chunks_of(engine.speak(Utterance("Yes.", "", prepared=voice, seed=1)))


async def test_what_cannot_be_spoken_is_refused(tmp_path: Path) -> None:
    async with tiny_engine(CUSTOM, tmp_path) as engine:
        for utterance, error, named in (
            (Utterance("Hi.", "nobody"), UnknownVoiceError, "vivian"),
            (Utterance("Hi.", "ryan", language="ms"), InvalidRequestError, "'ms'"),
            (Utterance("Hi.", "ryan", instructions="x" * 2001), InvalidRequestError, "2000"),
            (Utterance("Hi.", "ryan", tuning={"top_k": 9999}), InvalidRequestError, "top_k"),
        ):
            with pytest.raises(error, match=named):
                engine.check(utterance)
        with pytest.raises(SilentTextError):
            await chunks_of(engine.speak(Utterance("…", "ryan")))
        with pytest.raises(PromptError, match="too short"):
            await engine.prepare(VoicePrompt(np.zeros(100, np.float32), 24_000, "", "x"))


@pytest.mark.long
async def test_leaving_a_stream_frees_its_slots(tmp_path: Path) -> None:
    async with tiny_engine(CUSTOM, tmp_path, qwen3tts_streams=1) as engine:
        for _ in range(3):
            speech = engine.speak(Utterance("Hi there, this is the test.", "ryan", seed=3))
            assert len((await anext(speech)).pcm) == 1920
            await speech.aclose()  # type: ignore[attr-defined]
        assert await asyncio.wait_for(chunks_of(engine.speak(Utterance("One.", "ryan", seed=3))), 60)


def test_a_published_folder_is_recognised(tmp_path: Path) -> None:
    for model in TINY:
        folder = install(model, tmp_path)
        found = Catalog.installed().recognize(folder)
        assert found is not None
        assert found.model == model


def test_the_command_checks_a_folder(tmp_path: Path) -> None:
    folder = install(CUSTOM, tmp_path)
    assert CliRunner().invoke(app, ["models", "check", str(folder)]).stdout.startswith(f"{CUSTOM}: all files are there")
    weights = load_file(folder / "model.safetensors")
    del weights["talker.codec_head.weight"]
    save_file(weights, folder / "model.safetensors")
    refused = CliRunner().invoke(app, ["models", "check", str(folder)])
    assert refused.exit_code == 1
    assert "does not fit its config.json" in refused.stderr


async def test_a_folder_of_another_model_or_without_a_file_is_refused(tmp_path: Path) -> None:
    folder = install(CUSTOM, tmp_path)
    folder.rename(tmp_path / BASE)
    with pytest.raises(BundleError, match="custom_voice"):
        await Qwen3TtsEngine(VARIANTS[BASE], settings(tmp_path)).start()
    (tmp_path / BASE / "merges.txt").unlink()
    with pytest.raises(BundleError, match=r"merges\.txt"):
        await Qwen3TtsEngine(VARIANTS[BASE], settings(tmp_path)).start()


def test_no_more_sentences_at_once_than_a_gpu_has_room_for() -> None:
    assert fitting_streams(64, 200, 64 * 300) == (64, "")
    fewer, warning = fitting_streams(64, 200, 10_000)
    assert fewer == 35
    assert "35 sentences" in warning
    assert "qwen3tts_streams" in warning
    assert fitting_streams(8, 1_000, 10)[0] == 1
