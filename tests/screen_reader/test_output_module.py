import asyncio
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest

from polyvox.errors import BundleError, TextError
from polyvox.screen_reader import host_pipe
from polyvox.screen_reader.host_pipe import HostPipe, audio_event
from polyvox.screen_reader.output_module import OutputModule
from polyvox.screen_reader.phrase_cache import PhraseCache
from polyvox.screen_reader.synthesizer import Phrase, Samples
from polyvox.types import Voice

pytestmark = pytest.mark.anyio

RATE = 24_000
AUDIO = re.compile(rb"705-bits=16\n705-num_channels=1\n705-sample_rate=(\d+)\n705-num_samples=(\d+)\n"
                   rb"705-big_endian=0\n705-AUDIO\0([^\n]*)\n705 AUDIO\n")  # fmt: skip


class FakeSynthesizer:
    """Speaks 100 ms a phrase; "endless" never ends by itself, "broken" fails."""

    voices = (Voice("af_heart", "Heart", "en-us", "female"), Voice("xx", "X", "ja", reason="missing"))

    def __init__(self) -> None:
        self.spoken: list[Phrase] = []
        self.left = asyncio.Event()
        self.has_all_keys = asyncio.Event()

    async def speak(self, phrase: Phrase) -> AsyncGenerator[Samples, None]:
        self.spoken.append(phrase)
        if phrase.text == "broken":
            raise TextError("There is nothing to say.", field="text")
        try:
            yield Samples(np.full(RATE // 10, 0.5, np.float32), RATE)
            while phrase.text == "endless":
                await asyncio.sleep(0)
                yield Samples(np.full(RATE // 10, 0.5, np.float32), RATE)
        finally:
            self.left.set()
            if phrase.text == "F 12":
                self.has_all_keys.set()


class Host:
    """The host's side: what it writes is fed, what the module writes is kept, taken when the host likes."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader(limit=host_pipe.MAX_LINE_BYTES)
        self.written = b""
        self.news = asyncio.Event()
        self.takes = asyncio.Event()
        self.takes.set()

    def write(self, data: bytes) -> None:
        self.written += data
        self.news.set()

    async def drain(self) -> None:
        await asyncio.sleep(0)
        await self.takes.wait()

    def say(self, *lines: str) -> None:
        self.reader.feed_data("".join(f"{line}\n" for line in lines).encode())

    async def until(self, event: str) -> list[str]:
        """Wait for a line, and give the lines so far without audio; they are then forgotten."""
        async with asyncio.timeout(10):
            while f"{event}\n".encode() not in self.written:
                self.news.clear()
                await self.news.wait()
        lines = AUDIO.sub(b"", self.written).decode().splitlines()
        self.written = b""
        return lines


@asynccontextmanager
async def running(synthesizer: FakeSynthesizer) -> AsyncIterator[Host]:
    @asynccontextmanager
    async def opening() -> AsyncIterator[FakeSynthesizer]:
        yield synthesizer

    host = Host()
    task = asyncio.create_task(OutputModule(HostPipe(host.reader, host), opening).run())
    host.say("INIT")
    assert await host.until("299 OK LOADED SUCCESSFULLY") == ["299-Polyvox is ready.", "299 OK LOADED SUCCESSFULLY"]
    yield host
    host.reader.feed_eof()
    await asyncio.wait_for(task, 10)


async def test_the_commands_of_a_host_have_their_replies() -> None:
    exchanges = (
        (("AUDIO", "audio_output_method=server", "."), ["207 OK RECEIVING AUDIO SETTINGS", "203 OK AUDIO INITIALIZED"]),
        (("AUDIO", "audio_output_method=alsa", "."),
         ["207 OK RECEIVING AUDIO SETTINGS", "303 ERROR INVALID PARAMETER OR VALUE"]),
        (("LOGLEVEL", "log_level=3", "."), ["207 OK RECEIVING LOGLEVEL SETTINGS", "203 OK LOGLEVEL SET"]),
        (("SET", "rate=10", "volume=50", "."), ["207 OK RECEIVING SETTINGS", "203 OK SETTINGS RECEIVED"]),
        (("SET", "rate=1000", "."), ["207 OK RECEIVING SETTINGS", "303 ERROR INVALID PARAMETER OR VALUE"]),
        (("LIST VOICES",), ["200-af_heart\ten-us\tfemale", "200 OK VOICE LIST SENT"]),
        (("SPEAK", "."), ["202 OK RECEIVING MESSAGE", "301 ERROR CANT SPEAK"]),
        (("CHAR", "a", "b", "."), ["202 OK RECEIVING MESSAGE", "305 DATA MORE THAN ONE LINE"]),
        (("DEBUG ON /tmp/file",), ["303 CANT OPEN CUSTOM DEBUG FILE"]),
        (("DEBUG OFF",), ["200 OK DEBUGGING OFF"]),
        (("DEBUG",), ["302 ERROR BAD SYNTAX"]),
        (("DANCE",), ["300 ERR UNKNOWN COMMAND"]),
        (("STOP", "PAUSE", "QUIT"), ["210 OK QUIT"]),
    )  # fmt: skip
    async with running(FakeSynthesizer()) as host:
        for said, replies in exchanges:
            host.say(*said)
            assert await host.until(replies[-1]) == replies


async def test_a_message_is_heard_between_begin_and_end_with_its_marks() -> None:
    async with running(FakeSynthesizer()) as host:
        host.say(
            "SET", "volume=0", "pitch=100", ".", "SPEAK", '<speak>One two.<mark name="7"/> Three four.</speak>', "."
        )
        await asyncio.wait_for(_ended(host), 10)
        events = AUDIO.findall(host.written)
        assert sum(int(count) for _, count, _ in events) == 2 * RATE // 10
        assert {int(rate) for rate, _, _ in events} == {round(RATE * 2 ** (1 / 3))}
        samples = np.frombuffer(events[0][2], "<i2")
        assert samples == pytest.approx(np.full(len(samples), 0.25 * 32768), abs=1)
        lines = AUDIO.sub(b"", host.written).decode().splitlines()
        assert lines[-5:] == ["200 OK SPEAKING", "701 BEGIN", "700-7", "700 INDEX MARK", "702 END"]


async def _ended(host: Host) -> None:
    while b"702 END\n" not in host.written:
        host.news.clear()
        await host.news.wait()


async def test_stop_ends_a_message_at_once_and_nothing_of_it_follows() -> None:
    synthesizer = FakeSynthesizer()
    async with running(synthesizer) as host:
        for command, event in (("STOP", "703 STOP"), ("PAUSE", "704 PAUSE")):
            host.say("SPEAK", "endless", ".")
            await host.until("705 AUDIO")
            synthesizer.left.clear()
            host.takes.clear()  # the host does not take audio: a stop must not wait for it
            before = time.perf_counter()
            host.say(command)
            await host.until(event)
            assert time.perf_counter() - before < 0.5  # a loose limit on a busy machine: no wait for audio
            await asyncio.wait_for(synthesizer.left.wait(), 10)
            assert b"705" not in host.written
            host.takes.set()


async def test_a_stop_without_a_message_is_silent() -> None:
    async with running(FakeSynthesizer()) as host:
        host.say("STOP", "SPEAK", "One two.", ".")
        assert "703 STOP" not in await host.until("702 END")


async def test_a_message_that_fails_ends_visibly_and_the_next_is_spoken() -> None:
    async with running(FakeSynthesizer()) as host:
        host.say("SPEAK", "broken", ".")
        assert (await host.until("703 STOP"))[-2:] == ["701 BEGIN", "703 STOP"]
        host.say("SPEAK", "whole", ".")
        assert (await host.until("702 END"))[-2:] == ["701 BEGIN", "702 END"]


async def test_letters_are_made_before_they_are_asked_for() -> None:
    synthesizer = FakeSynthesizer()
    async with running(synthesizer) as host:
        await asyncio.wait_for(synthesizer.has_all_keys.wait(), 10)
        made = len(synthesizer.spoken)
        for kind, text in (("CHAR", "q"), ("KEY", "F12"), ("CHAR", "?")):
            host.say(kind, text, ".")
            await host.until("702 END")
        assert len(synthesizer.spoken) == made


async def test_a_model_that_cannot_be_loaded_is_told_to_the_host() -> None:
    @asynccontextmanager
    async def opening() -> AsyncIterator[FakeSynthesizer]:
        raise BundleError("The model is not installed.\nRun `polyvox pull wren`.")
        yield FakeSynthesizer()

    host = Host()
    host.say("INIT", "LIST VOICES", "SPEAK", "hello", ".", "QUIT")
    await asyncio.wait_for(OutputModule(HostPipe(host.reader, host), opening).run(), 10)
    assert host.written.decode().splitlines() == [
        "399-The model is not installed. Run `polyvox pull wren`.",
        "399 ERR CANT INIT MODULE",
        "304 CANT LIST VOICES",
        "202 OK RECEIVING MESSAGE",
        "301 ERROR CANT SPEAK",
        "210 OK QUIT",
    ]


async def test_doubled_dots_are_undone_and_long_messages_refused() -> None:
    synthesizer = FakeSynthesizer()
    async with running(synthesizer) as host:
        host.say("SPEAK", "..net and", "...", "more", ".")
        await host.until("702 END")
        assert Phrase(".net and\n..\nmore") in synthesizer.spoken
        for text in ("x" * (host_pipe.MAX_LINE_BYTES + 10), "\n".join(["y" * 1000] * 1001)):
            host.say("SPEAK", text, ".")
            assert (await host.until("301 ERROR CANT SPEAK"))[-1] == "301 ERROR CANT SPEAK"
        host.say("z" * (host_pipe.MAX_LINE_BYTES + 10))
        assert await host.until("300 ERR UNKNOWN COMMAND") == ["300 ERR UNKNOWN COMMAND"]


def test_audio_has_no_line_end_and_can_be_read_back() -> None:
    pcm = (np.arange(-32768, 32768, 3) / 32768).astype(np.float32)
    found = AUDIO.fullmatch(audio_event(Samples(pcm, RATE)))
    assert found is not None
    data = re.sub(rb"\x7d(.)", lambda pair: bytes((pair[1][0] ^ 0x20,)), found[3], flags=re.DOTALL)
    assert np.frombuffer(data, "<i2") == pytest.approx(pcm * 32768, abs=1)


async def test_the_cache_keeps_short_phrases_that_were_spoken_to_their_end_within_its_size() -> None:
    synthesizer = FakeSynthesizer()
    cache = PhraseCache(synthesizer, max_bytes=2 * 4 * RATE // 10)
    for text in ("a", "b", "c", "a much longer phrase than letters"):
        async for _ in cache.speak(Phrase(text)):
            pass
    assert [Phrase(text) in cache for text in ("a", "b", "c")] == [False, True, True]
    assert Phrase("a much longer phrase than letters") not in cache
    left = cache.speak(Phrase("endless"))
    await anext(left)
    await left.aclose()
    assert Phrase("endless") not in cache
