"""Recordings transcribed for the real clients of other services."""

import asyncio

import pytest

from helpers.client_environment import run_client
from helpers.fakes import tone_service
from helpers.listening import RECORDINGS, SPEECH, ScriptedRecogniser, listening_with
from helpers.serving import served
from helpers.wyoming import served_wyoming
from polyvox.audio.decode import decode
from polyvox.audio.pcm import to_pcm16


def test_elevenlabs_client_reads_the_words():
    service = listening_with(tone_service(), any=ScriptedRecogniser())
    with served(service) as url:
        found = run_client("sdks", "elevenlabs_speech_to_text.py", url, RECORDINGS / "librivox_a.flac")
    words = [["Hello", "word"], [" ", "spacing"], ["there.", "word"]]
    assert found == {"text": "Hello there.", "language": "eng", "words": words}


@pytest.mark.anyio
async def test_wyomings_client_finds_the_recognisers_and_is_sent_a_transcript(tmp_path):
    samples = tmp_path / "samples"
    samples.write_bytes(to_pcm16(decode(SPEECH, max_seconds=10, max_samples=1_000_000)[0]))
    service = listening_with(tone_service(), any=ScriptedRecogniser())
    async with served_wyoming(service=service) as running:
        found = await asyncio.to_thread(run_client, "sdks", "wyoming_transcribe.py", running.server.address, samples)
    assert found == {"models": ["any"], "text": "Hello there.", "language": "en"}
