"""Speech in process: `from polyvox import Speaker`."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import polyvox
from helpers.cloning import CloneEngine
from helpers.fakes import PlainToneEngine, ToneEngine, tone_catalog
from polyvox import Speaker
from polyvox.audio.decode import decode
from polyvox.engines.catalog import Catalog
from polyvox.errors import (
    BundleError,
    EngineError,
    InvalidRequestError,
    TextError,
    UnknownModelError,
    UnknownVoiceError,
)

RECORDING = Path(__file__).parents[1] / "recordings" / "librivox_a.flac"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlainToneEngine:
    """The only model is an engine that hums."""
    humming = ToneEngine()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Catalog, "installed", lambda: tone_catalog(humming))
    monkeypatch.setenv("POLYVOX_DATA_DIR", str(tmp_path / "data"))
    return humming


@pytest.fixture
def speaker(engine: PlainToneEngine) -> Iterator[Speaker]:
    with Speaker("tone") as speaker:
        yield speaker


def test_the_public_names_are_these() -> None:
    assert sorted(polyvox.__all__) == [
        "AudioChunk",
        "PolyvoxError",
        "ReferenceVoice",
        "Speaker",
        "Speech",
        "SpeechStream",
        "Voice",
        "WordTiming",
        "__version__",
    ]
    assert all(getattr(polyvox, name) is not None for name in polyvox.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Loudspeaker'"):
        _ = polyvox.Loudspeaker


def test_a_text_is_spoken_to_its_end(speaker: Speaker, engine: PlainToneEngine) -> None:
    speech = speaker.say("Two words")
    assert speech.seconds == pytest.approx(engine.chunks * engine.chunk_seconds)
    assert [word.word for word in speech.words] == ["Two", "words"]
    assert engine.heard[-1].voice == "low"


def test_chunks_come_as_they_are_made(speaker: Speaker, engine: PlainToneEngine) -> None:
    chunks = list(speaker.stream("Three small words", voice="high", speed=2.0, seed=7))
    assert [chunk.index for chunk in chunks] == [0, 1, 2]
    heard = engine.heard[-1]
    assert (heard.voice, heard.speed, heard.seed) == ("high", 2.0, 7)


def test_a_caller_with_an_event_loop_of_its_own_streams_too(speaker: Speaker) -> None:
    async def heard() -> list[int]:
        return [chunk.index async for chunk in speaker.stream("Hello there")]

    async def both() -> list[list[int]]:
        return await asyncio.gather(heard(), heard())

    assert asyncio.run(both()) == [[0, 1, 2], [0, 1, 2]]


def test_whoever_leaves_early_ends_the_work(speaker: Speaker, engine: PlainToneEngine) -> None:
    engine.chunks = 1_000
    for _ in speaker.stream("Never to its end"):
        break
    assert (engine.speaking, engine.closed) == (0, 1)
    with speaker.stream("Not even begun"):
        pass
    assert engine.closed == 1


def test_several_threads_may_speak_at_once(speaker: Speaker, engine: PlainToneEngine) -> None:
    engine.delay = 0.05
    spoken = []
    threads = [threading.Thread(target=lambda: spoken.append(speaker.say("At once").seconds)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(spoken)) == 1
    assert engine.most_speaking > 1


@pytest.mark.parametrize("name", ["x.wav", "x.mp3", "x.flac", "x.ogg"])
def test_a_file_has_the_format_of_its_ending(speaker: Speaker, tmp_path: Path, name: str) -> None:
    path = speaker.save("Into a file", tmp_path / name, voice="high")
    pcm, rate = decode(path.read_bytes(), max_seconds=60, max_samples=60 * 48_000)
    assert len(pcm) / rate == pytest.approx(0.3, abs=0.1)


def test_a_file_without_an_ending_is_refused(speaker: Speaker, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="ending"):
        speaker.save("Into a file", tmp_path / "x")


def test_the_models_voices_are_listed_and_one_may_be_the_speakers(engine: PlainToneEngine) -> None:
    with Speaker("tone", voice="high") as speaker:
        assert [voice.id for voice in speaker.voices] == ["low", "high"]
        speaker.say("With its own")
        assert engine.heard[-1].voice == "high"


def test_errors_are_the_servers(speaker: Speaker) -> None:
    with pytest.raises(TextError):
        speaker.say("")
    with pytest.raises(UnknownVoiceError):
        speaker.say("Hello", voice="nobody")
    with pytest.raises(InvalidRequestError, match="its own voices only"):
        speaker.clone(b"RIFF")
    with pytest.raises(UnknownModelError, match="no model 'flute'"):
        Speaker("flute")


def test_a_model_that_cannot_start_says_why(engine: PlainToneEngine) -> None:
    engine.start_error = BundleError("The model is not there.")
    with pytest.raises(polyvox.PolyvoxError, match="not there"):
        Speaker("tone")
    assert not [thread for thread in threading.enumerate() if thread.name == "polyvox-tone"]


def test_a_closed_speaker_says_so(engine: PlainToneEngine) -> None:
    speaker = Speaker("tone")
    speaker.close()
    speaker.close()
    assert engine.is_closed
    with pytest.raises(EngineError, match="closed"):
        speaker.say("Too late")


@pytest.mark.slow
def test_the_voice_of_a_recording_is_cloned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = CloneEngine()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Catalog, "installed", lambda: tone_catalog(engine))
    models_dir = tmp_path / "models"
    with Speaker("tone", models_dir=models_dir, data_dir=tmp_path / "data") as speaker:
        anna = speaker.clone(RECORDING, transcript="And there was the wolf.")
        speaker.say("In her voice", voice=anna)
        speaker.say("And again", voice=anna)
    assert [prompt.transcript for prompt in engine.prepared] == ["And there was the wolf."]
    assert engine.heard[-1].prepared is not None


@pytest.mark.slow
def test_kokoro_is_understood(moonshine, models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYVOX_KOKORO_DECODER", "wren")
    with Speaker("kokoro", models_dir=models_dir) as speaker:
        speech = speaker.say("The birch canoe slid on the smooth planks.", voice="af_heart(2)+bf_emma(1)")
        assert len(speaker.voices) == 54
    assert np.abs(speech.pcm).max() <= 1.0
    heard = moonshine.transcribe(speech.pcm, speech.sample_rate).lower()
    assert "birch canoe" in heard


def test_speech_has_captions_of_its_text(speaker: Speaker) -> None:
    speech = speaker.say('One, "two"!')
    assert 'One, "two"!' in speech.captions("srt")
    assert speech.captions("vtt").startswith("WEBVTT\n")
    with pytest.raises(InvalidRequestError, match="use one of srt, vtt, word_vtt, json"):
        speech.captions("ass")
