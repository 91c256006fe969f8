"""LiveKit's ElevenLabs plugin against a real server."""

import asyncio
import base64
import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.client_environment import run_client
from helpers.fakes import ToneEngine, tone, tone_service
from helpers.serving import served, wait_for
from polyvox.audio.pcm import from_pcm16, to_pcm16
from polyvox.engines.catalog import Catalog
from polyvox.evaluate.wer import word_error_rate, words_of
from polyvox.installation import settings_loader
from polyvox.service.local_service import build_service
from polyvox.voices.recognition.transcribe import Moonshine

KEY = "a-long-enough-key"
WORDS = ["One", "two,", "three.", "Four", "five", "six."]
GENERATION = to_pcm16(tone(220.0, 0, 7_200, 24_000))


class PacedEngine(ToneEngine):
    """A tone engine whose texts of the word `slow` take a while for each chunk."""

    async def speak(self, utterance):
        async for chunk in super().speak(utterance):
            await asyncio.sleep(0.1 if "slow" in utterance.text else 0.0)
            yield chunk


@pytest.fixture(scope="module")
def seen() -> Iterator[dict[str, Any]]:
    engine = PacedEngine()
    with served(tone_service(engine, api_keys=[KEY], elevenlabs_voices="hpp4J3VqNfWAUOO0d1Us=low")) as url:
        found = run_client("livekit", "livekit_elevenlabs.py", url, KEY, "hpp4J3VqNfWAUOO0d1Us")
        wait_for(lambda: engine.speaking == 0)
        yield found


def words(found: dict[str, Any]) -> list[str]:
    return [word.strip() for word, _, _ in found["words"]]


def test_voices_are_listed(seen):
    assert {"low", "high", "hpp4J3VqNfWAUOO0d1Us"} <= set(seen["voices"])


@pytest.mark.parametrize("way", ["chunked", "chunked_v3", "mp3", "opus", "words", "v3", "v3_mp3", "one"])
def test_every_way_speaks_all_of_the_text(seen, way):
    whole = 0.3 if way.startswith("chunked") else 0.6  # two sentences are two generations of the tone on a socket
    assert seen[way]["seconds"] == pytest.approx(whole, abs=0.05)


@pytest.mark.parametrize("way", ["mp3", "opus", "words", "v3", "v3_mp3", "one"])
def test_words_have_times_that_never_decrease(seen, way):
    assert words(seen[way]) == WORDS
    starts = [start for _, start, _ in seen[way]["words"]]
    assert starts == sorted(starts)
    # The plugin counts the time of dialogues by bytes of mp3, which an encoder holds back for a moment.
    assert starts == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], abs=0.06 if way == "v3_mp3" else 0.002)
    assert all(end >= start for _, start, end in seen[way]["words"])


def test_streams_on_one_socket_do_not_mix(seen):
    assert base64.b64decode(seen["one"]["pcm"]) == GENERATION * 2
    assert base64.b64decode(seen["other"]["pcm"]) == GENERATION
    assert words(seen["other"]) == ["Seven."]


def test_after_an_interruption_the_next_stream_has_its_own_words(seen):
    found = seen["interrupted"]
    assert 0 < found["heard"] < len(GENERATION)
    assert words(found["next"]) == WORDS
    assert found["next"]["bytes"] == 2 * len(GENERATION)


def test_a_lost_socket_is_opened_again(seen):
    assert seen["reconnected"] == {"before": len(GENERATION), "after": len(GENERATION)}


def test_errors_are_known_to_the_plugin(seen):
    assert {name: (seen[name]["error"], seen[name]["status"]) for name in seen if name.startswith("bad_")} == {
        "bad_key": ("APIStatusError", 401),
        "bad_key_chunked": ("APIStatusError", 401),
        "bad_voice": ("APIStatusError", -1),
        "bad_voice_chunked": ("APIStatusError", 404),
    }


@pytest.mark.slow
def test_kokoro_is_understood_and_its_words_are_where_they_are_said(models_dir: Path, moonshine: Moonshine):
    sentences = ("Rice is often served in round bowls. ", "The juice of lemons makes fine punch. ")
    settings = settings_loader().given(models_dir=models_dir, kokoro_decoder="wren")
    with served(build_service(settings, Catalog.installed().factories)) as url:
        found = run_client("livekit", "livekit_elevenlabs.py", url, "none", "21m00Tcm4TlvDq8ikWAM", *sentences)
    pcm = from_pcm16(base64.b64decode(found["pcm"]))
    text = "".join(sentences)
    assert word_error_rate(text, moonshine.transcribe(pcm, 24_000)).errors == 0
    assert words(found) == text.split()
    starts = [start for _, start, _ in found["words"]]
    assert starts == sorted(starts)
    # Cut where the second sentence is said to begin, each part holds its own sentence.
    second = round(24_000 * (starts[7] - 0.05))
    for part, sentence in zip((pcm[:second], pcm[second:]), sentences, strict=True):
        heard = words_of(moonshine.transcribe(part, 24_000))
        assert difflib.SequenceMatcher(None, heard, words_of(sentence)).ratio() > 0.8
