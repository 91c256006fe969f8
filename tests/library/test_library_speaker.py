"""Speech in process: `from polyvox import Speaker`."""

import asyncio
import base64
import threading
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import polyvox
from helpers.cloning import CloneEngine
from helpers.fakes import PlainToneEngine, ToneEngine, tone_catalog
from polyvox import Speaker, Speech
from polyvox.audio.decode import decode
from polyvox.audio.wav_tags import read_wav_tags
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


def test_every_mistake_is_a_polyvox_error_that_names_the_remedy(speaker: Speaker, tmp_path: Path) -> None:
    mistakes: list[tuple[Callable[[], object], str]] = [
        (lambda: speaker.say("Hi", voise="high"), "no option 'voise'; did you mean 'voice'\\? There are voice, "),
        (lambda: speaker.stream("Hi", tempo=2), "no option 'tempo'; there are voice, "),
        (lambda: speaker.say(7), "'text' must be a text, not 7"),
        (lambda: speaker.say("Hi", speed="fast"), "'speed' must be a number, not 'fast'"),
        (lambda: speaker.say("Hi", speed=9), "speed must lie between 0.25 and 4, not 9"),
        (lambda: speaker.say("Hi", seed="x"), "'seed' must be a whole number"),
        (lambda: speaker.say("Hi", voice=3), "'voice' must be the name of a voice, or one made by `clone`"),
        (lambda: speaker.say("Hi", dictionaries="mine"), "'dictionaries' must be a list of names"),
        (lambda: speaker.say("Hi").save(tmp_path / "no" / "a.wav"), "cannot be written: No such file or directory"),
        (lambda: speaker.say("Hi").save("a.wave"), "did you mean 'wav'"),
        (lambda: Speaker("tone", voice="nobody"), "There is no voice 'nobody'; use low or high"),
        (lambda: Speaker("tome"), "There is no model 'tome'; did you mean 'tone'"),
        (lambda: Speaker("tone", data_dri="x"), "did you mean 'data_dir'"),
        (lambda: Speaker(7), "'model' must be the name of a model, not 7"),
    ]
    for mistake, answer in mistakes:
        with pytest.raises(polyvox.PolyvoxError, match=answer):
            mistake()


def test_a_voice_that_the_model_cannot_have_is_refused_before_it_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyvox.speaker.pull", lambda *_, **__: pytest.fail("fetched"))
    with pytest.raises(UnknownVoiceError, match="no voice 'af_hart'; did you mean 'af_heart'"):
        Speaker("kokoro", voice="af_hart")


def test_a_caller_with_an_event_loop_says_and_saves_like_one_without(speaker: Speaker, tmp_path: Path) -> None:
    async def both() -> tuple[Speech, Path, int]:
        saved = await speaker.save_async("Good morning.", tmp_path / "a.wav")
        async with speaker.stream("Good morning.") as stream:
            chunks = [chunk async for chunk in stream]
        return await speaker.say_async("Good morning."), saved, len(chunks)

    speech, saved, chunks = asyncio.run(both())
    assert np.array_equal(speech.pcm, speaker.say("Good morning.").pcm)
    with wave.open(str(saved)) as file:
        assert file.getnframes() == len(speech.pcm)
    assert read_wav_tags(saved.read_bytes()) == speech.tags
    assert speech.tags["CONTENT_ID"]
    assert chunks == len(list(speaker.stream("Good morning.")))


def test_speech_is_short_to_print_and_a_player_in_a_notebook(speaker: Speaker) -> None:
    speech = speaker.say("Good morning, and so on until the line is long enough.")
    assert repr(speech) == f"<Speech 'Good morning, and so on until the lin...', {speech.seconds:.2f} s at 24000 Hz>"
    assert repr(speaker) == "<Speaker 'tone'>"
    assert "array" not in repr(next(iter(speaker.stream("Hi"))))
    html = speech._repr_html_()
    head, tail = '<audio controls src="data:audio/mpeg;base64,', '"></audio>'
    assert html.startswith(head)
    assert html.endswith(tail)
    played, rate = decode(base64.b64decode(html[len(head) : -len(tail)]), max_seconds=60, max_samples=60 * 48_000)
    assert len(played) / rate == pytest.approx(speech.seconds, abs=0.1)


@pytest.mark.parametrize("on_a_loop", [False, True])
def test_speech_is_played_to_its_end_also_where_an_event_loop_runs(
    speaker: Speaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_a_loop: bool
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "aplay").write_text("#!/bin/sh\nexec /bin/cat > played\n")
    (programs / "aplay").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    speech = speaker.say("Good morning.")

    async def play_as_a_notebook_does() -> None:
        speech.play()

    if on_a_loop:
        asyncio.run(play_as_a_notebook_does())
    else:
        speech.play()
    assert Path("played").stat().st_size == 2 * len(speech.pcm)
    (programs / "aplay").unlink()
    with pytest.raises(polyvox.PolyvoxError, match="write a file with `save`"):
        speech.play()


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
