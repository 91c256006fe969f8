"""Kokoro in PyTorch through the engine: exact batches, captured shapes, lookahead. The weights are seeded."""

import asyncio
import threading
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from helpers.fixed_shapes import Fixed  # noqa: E402
from helpers.tables import each_row  # noqa: E402
from helpers.tiny_kokoro import tiny_kokoro, tiny_voices  # noqa: E402
from polyvox.engines.base import SupportsWarning  # noqa: E402
from polyvox.engines.kokoro.chunking import Break, PhonemeChunk  # noqa: E402
from polyvox.engines.kokoro.engine import KokoroEngine  # noqa: E402
from polyvox.engines.kokoro.native import batched_synthesis  # noqa: E402
from polyvox.engines.kokoro.native import network as native_network  # noqa: E402
from polyvox.engines.kokoro.native.batched_synthesis import _READ_BATCH, BatchedSynthesis  # noqa: E402
from polyvox.engines.kokoro.native.network import GAIN, GraphShapes, NativeKokoro, styled_tokens  # noqa: E402
from polyvox.engines.kokoro.native.noise import noise_seed  # noqa: E402
from polyvox.engines.kokoro.render import render  # noqa: E402
from polyvox.engines.kokoro.request import ModelInput, SynthesisRequest  # noqa: E402
from polyvox.errors import InvalidRequestError  # noqa: E402
from polyvox.installation import load_settings  # noqa: E402
from polyvox.text.spoken import SpokenWord  # noqa: E402
from polyvox.types import Span, Utterance  # noqa: E402

pytestmark = pytest.mark.anyio

ROUNDING = 1e-6
"""Of the loudest sample; in a batch, double-precision sums are taken in another order."""
TEXTS = (
    "Yes.",
    "No, no.",
    "Good morning.",
    "The sun rose.",
    "Why?",
    "It is far too warm.",
    "Wait.",
    "Come in, please.",
)
PARAGRAPH = "The sun rose. It is far too warm in here. Wait for me, please. Nobody asked why. The door was shut."
TOKENS = (12, 24)
SETTINGS = {"first_chunk_phonemes": 10, "max_chunk_phonemes": 20}


class GatedKokoro(NativeKokoro):
    """Predicts nothing while its gate is closed."""

    def __init__(self, *given):
        super().__init__(*given)
        self.gate = threading.Event()
        self.gate.set()
        self.held = 0

    def predict_durations(self, items):
        self.held = len(items)
        assert self.gate.wait(60)
        self.held = 0
        return super().predict_durations(items)


@dataclass
class Running:
    """An engine, the sizes of its batches, the recorder of its shapes, and its network and synthesis."""

    engine: KokoroEngine
    sizes: dict
    replay: Fixed
    network: GatedKokoro
    synthesis: BatchedSynthesis

    async def gathered(self, waiting, speech):
        """The result of `speech`, once the network holds a chunk and so many more, or they wait for it."""
        self.network.gate.clear()
        task = asyncio.create_task(speech)
        async with asyncio.timeout(60):
            while self.network.held + len(self.synthesis._usual.plan) <= waiting:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        self.network.gate.set()
        return await task


@asynccontextmanager
async def running(folder, batch=8, lengths=None):
    engine, replay, sizes = KokoroEngine(load_settings(**SETTINGS)), Fixed(), defaultdict(list)
    shapes = None if lengths is None else GraphShapes((replay,), replay, replay, lengths, TOKENS)
    network = GatedKokoro(tiny_kokoro(), batch, shapes)
    network.capture()
    synthesis = BatchedSynthesis(network, lambda report: sizes[report.stage].append(report.size))
    await engine.start_with(synthesis, tiny_voices(folder))
    sizes.clear()
    try:
        yield Running(engine, sizes, replay, network, synthesis)
    finally:
        await engine.close()


async def speak(engine, text, voice="af_heart", speed=1.0):
    return [chunk async for chunk in engine.speak(Utterance(text, voice, speed=speed))]


async def speak_all(engine):
    return await asyncio.gather(
        *(
            speak(engine, text, "am_adam" if index % 2 else "af_heart", speed=0.8 + index / 10)
            for index, text in enumerate(TEXTS)
        )
    )


def joined(chunks):
    return np.concatenate([chunk.pcm for chunk in chunks])


def close_to(ours, theirs):
    assert [(chunk.start, chunk.end, chunk.text, chunk.words) for chunk in ours] == [
        (chunk.start, chunk.end, chunk.text, chunk.words) for chunk in theirs
    ]
    return np.abs(joined(ours) - joined(theirs)).max() <= ROUNDING * np.abs(joined(theirs)).max()


@pytest.mark.long
@pytest.mark.parametrize("lengths", [None, (32,)], ids=["eager", "captured"])
async def test_a_request_in_a_batch_of_eight_sounds_as_alone(tmp_path, lengths):
    async with running(tmp_path, batch=1) as one:
        alone = [
            await speak(one.engine, text, "am_adam" if index % 2 else "af_heart", speed=0.8 + index / 10)
            for index, text in enumerate(TEXTS)
        ]
    async with running(tmp_path, lengths=lengths) as eight:
        together = await eight.gathered(7, speak_all(eight.engine))
    assert max(eight.sizes["kokoro-plan"]) >= 7
    assert max(eight.sizes["kokoro-sound"]) >= 3
    assert len({len(joined(chunks)) for chunks in alone}) == 8
    assert all(close_to(*pair) for pair in zip(together, alone, strict=True))


@pytest.mark.long
async def test_shapes_are_captured_before_the_first_request_and_never_after(tmp_path):
    async with running(tmp_path, batch=4, lengths=(8, 16)) as four:
        captured = four.replay.recorded
        await speak_all(four.engine)
        assert four.replay.recorded == captured == 2 * 3 + 2 * 3, (
            "two lengths in frames and two in tokens, of one, two and four rows each"
        )


@pytest.mark.long
async def test_a_chunk_longer_than_all_shapes_runs_eagerly(tmp_path):
    async with running(tmp_path, batch=1) as plain:
        expected = await speak(plain.engine, TEXTS[5])
    async with running(tmp_path, batch=2, lengths=(4,)) as captured:
        assert close_to(await speak(captured.engine, TEXTS[5]), expected)
        assert {shape for shape in captured.replay.shapes if shape[0] == "decode"} == {
            ("decode", 1, 4),
            ("decode", 2, 4),
        }


@pytest.mark.long
async def test_sentences_of_one_request_share_batches_on_an_idle_machine(tmp_path):
    async with running(tmp_path, batch=1) as plain:
        one_by_one = await speak(plain.engine, PARAGRAPH)
    async with running(tmp_path) as idle:
        ahead = await idle.gathered(BatchedSynthesis.lookahead - 1, speak(idle.engine, PARAGRAPH))
    assert len(ahead) > BatchedSynthesis.lookahead
    assert idle.sizes["kokoro-plan"][:2] == [1, BatchedSynthesis.lookahead - 1], (
        "the first chunk goes at once, the next together"
    )
    assert max(idle.sizes["kokoro-sound"]) > 1
    assert close_to(ahead, one_by_one)


def request_of(phonemes):
    chunk = PhonemeChunk((SpokenWord("", phonemes, Span(0, 1), False),), Break.COMMA)
    return SynthesisRequest(chunk, ModelInput(tuple(chunk.ids), np.full((1, 256), 0.1, np.float32), 1.0))


async def test_a_chunk_is_trimmed_while_texts_wait_to_be_read():
    synthesis = BatchedSynthesis(NativeKokoro(tiny_kokoro(), 1), None)
    gate = threading.Event()

    def requests():
        assert gate.wait(60)
        yield request_of("nˈO.")

    async with asyncio.timeout(60):
        reads = asyncio.gather(*(synthesis.next_request(requests()) for _ in range(_READ_BATCH + 1)))
        assert len((await synthesis.synthesize(request_of("wˈA."), 0.0)).rendered.pcm)
        assert not reads.done()
        gate.set()
        assert len(await reads) == _READ_BATCH + 1
        await synthesis.close()


def test_lanes_take_turns_and_sound_alike():
    lanes = Counted(), Counted()
    network = NativeKokoro(tiny_kokoro(), 1, GraphShapes(lanes, Fixed(), Fixed(), (32,), TOKENS))
    network.capture()
    captured = [lane.calls for lane in lanes]
    assert captured[0] == captured[1]
    timed = network.predict_durations([request_of("nˈO.").input])
    first, *others = [network.decode(timed)[0] for _ in range(4)]
    assert [lane.calls for lane in lanes] == [2 + count for count in captured]
    assert all(np.array_equal(first, other) for other in others)


class Counted(Fixed):
    """Counts its calls."""

    calls = 0

    def __call__(self, *given):
        self.calls += 1
        return super().__call__(*given)


def with_express_lanes(monkeypatch):
    """A network whose chunks of up to 16 frames and 12 ids are express, and the recorders that those have."""
    monkeypatch.setattr(native_network, "EXPRESS_FRAMES", 16)
    monkeypatch.setattr(native_network, "_SHORT_TOKENS", TOKENS[0])
    encode, decode = Counted(), Counted()
    network = NativeKokoro(tiny_kokoro(), 4, GraphShapes((Fixed(),), Fixed(), encode, (16, 32), TOKENS, (decode,)))
    network.capture()
    encode.calls = decode.calls = 0
    return network, encode, decode


@pytest.mark.long
def test_express_chunks_have_lanes_of_their_own_and_sound_alike(monkeypatch):
    network, encode, decode = with_express_lanes(monkeypatch)
    plain = NativeKokoro(tiny_kokoro(), 4)
    for phonemes, express in (("nˈO.", 1), ("nˈO, nˈO, nˈO, nˈO.", 0)):
        encode.calls = decode.calls = 0
        given = request_of(phonemes).input
        (timed,), (wanted,) = network.predict_durations([given]), plain.predict_durations([given])
        samples, expected = network.decode([timed])[0], plain.decode([wanted])[0]
        assert (encode.calls, decode.calls, network.is_express(timed)) == (express, express, bool(express))
        assert np.abs(samples - expected).max() <= ROUNDING * np.abs(expected).max()


@pytest.mark.long
async def test_express_chunks_wait_for_no_other(monkeypatch):
    network, sizes = with_express_lanes(monkeypatch)[0], defaultdict(list)
    synthesis = BatchedSynthesis(network, lambda report: sizes[report.stage].append(report.size))
    long, held = request_of("nˈO, nˈO, nˈO, nˈO."), threading.Event()
    launch = network.launch

    def launched(timed):
        if not network.is_express(timed[0]):
            assert held.wait(60)
        return launch(timed)

    network.launch = launched
    async with asyncio.timeout(60):
        waiting = asyncio.create_task(synthesis.synthesize(long, 0.0))
        await asyncio.gather(*(synthesis.synthesize(request_of("nˈO."), 1.0) for _ in range(3)))
        assert not waiting.done()
        held.set()
        await waiting
        await synthesis.close()
    assert sizes == {
        "kokoro-plan": [1], "kokoro-sound": [1], "kokoro-express-plan": [3], "kokoro-express-sound": [3]
    }  # fmt: skip


async def test_a_text_that_cannot_be_read_fails_alone():
    synthesis = BatchedSynthesis(NativeKokoro(tiny_kokoro(), 1), None)

    def unreadable():
        raise InvalidRequestError("no", field="input")
        yield

    readable, refused = iter([request_of("nˈO.")]), unreadable()
    found = await asyncio.gather(*map(synthesis.next_request, (readable, refused, readable)), return_exceptions=True)
    await synthesis.close()
    assert [type(each).__name__ for each in found] == ["SynthesisRequest", "InvalidRequestError", "NoneType"]


async def test_a_chunk_that_fails_and_a_caller_that_leaves_take_no_other_of_their_batch_along(monkeypatch):
    rendering, may_go_on = threading.Event(), threading.Event()
    failing, left, heard = (request_of(phonemes) for phonemes in ("nˈO.", "wˈA.", "sˈO."))

    def rendered(chunk, *given):
        rendering.set()
        assert may_go_on.wait(60)
        if chunk is failing.chunk:
            raise ZeroDivisionError
        return render(chunk, *given)

    monkeypatch.setattr(batched_synthesis, "render", rendered)
    synthesis = BatchedSynthesis(NativeKokoro(tiny_kokoro(), 4), None)
    synthesis._usual.launch._max_wait = 5.0  # until the batch of three is whole
    synthesis._usual.launch._room = lambda _: 3
    tasks = [asyncio.create_task(synthesis.synthesize(each, 0.0)) for each in (failing, left, heard)]
    async with asyncio.timeout(60):
        assert await asyncio.to_thread(rendering.wait, 60)
        tasks[1].cancel()
        await asyncio.wait([tasks[1]])
        may_go_on.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        await synthesis.close()
    assert [type(each).__name__ for each in found] == ["ZeroDivisionError", "CancelledError", "SynthesisResult"]


@pytest.mark.long
async def test_the_same_request_gives_the_same_samples_whatever_came_before_it(tmp_path):
    async with running(tmp_path) as it:
        first = await speak(it.engine, TEXTS[1])
        await speak(it.engine, TEXTS[3])
        torch.manual_seed(5)
        assert close_to(await speak(it.engine, TEXTS[1]), first)


@pytest.mark.long
async def test_a_pause_alone_takes_no_batch(tmp_path):
    async with running(tmp_path) as it:
        chunks = await speak(it.engine, "[pause:1s] No.")
        assert chunks[0].duration == pytest.approx(1.0, abs=0.1)
        assert it.sizes == {"kokoro-plan": [1], "kokoro-sound": [1]}


@pytest.mark.long
async def test_closing_a_request_early_leaves_the_engine_ready(tmp_path):
    async with running(tmp_path) as it:
        generator = it.engine.speak(Utterance(PARAGRAPH, "af_heart"))
        await anext(generator)
        await generator.aclose()
        assert await speak(it.engine, "Still here.")


def item(length, voice=0.1, speed=1.0):
    return ModelInput(tuple(range(1, length + 1)), np.full((1, 256), voice, np.float32), speed)


def test_noise_follows_from_words_voice_and_speed():
    assert noise_seed(item(9)) == noise_seed(item(9))
    assert len({noise_seed(each) for each in (item(9), item(8), item(9, voice=0.2), item(9, speed=1.1))}) == 4


def test_samples_are_as_loud_as_those_of_the_quantised_graph():
    native = NativeKokoro(tiny_kokoro(), 1)
    (timed,) = native.predict_durations([item(9)])
    (pcm,) = native.decode([timed])
    noise = torch.empty(timed.tokens.noise_shape)
    noise.normal_(generator=torch.Generator().manual_seed(noise_seed(item(9))))
    with torch.inference_mode():
        (samples,) = native.network.decode(native.network.predict_prosody([styled_tokens(item(9))]), [noise])
    np.testing.assert_allclose(pcm, GAIN * samples.numpy(), atol=ROUNDING * np.abs(pcm).max())
    assert timed.durations.sum() * 600 == len(pcm)
    assert len(timed.durations) == 9 + 2


def test_long_chunks_are_decoded_in_smaller_batches():
    native = NativeKokoro(tiny_kokoro(), 32)
    assert [native.room(bucket) for bucket in (32, 80, 560, 4096)] == [32, 24, 3, 1]


@pytest.mark.long
@each_row("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_change_neither_lengths_nor_the_type_of_the_samples(dtype):
    exact, narrow = NativeKokoro(tiny_kokoro(torch.float32), 2), NativeKokoro(tiny_kokoro(dtype), 2)
    items = [item(9), item(30, speed=1.2)]
    ours, theirs = ([native.decode([timed]) for timed in native.predict_durations(items)] for native in (narrow, exact))
    for (one,), (other,) in zip(ours, theirs, strict=True):
        assert one.dtype == np.float32
        assert len(one) == len(other)
        assert np.square(one - other).mean() < 1e-2 * np.square(other).mean()
    assert narrow.runs_on == f"PyTorch on cpu in {str(dtype).removeprefix('torch.')}"


def test_a_warning_of_the_engine_reaches_the_readiness_page():
    assert isinstance(KokoroEngine(load_settings()), SupportsWarning)
