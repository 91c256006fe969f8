"""The codec's decoder: windows decoded in one batch, in their own shapes and in captured ones."""

import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from helpers.fixed_shapes import Fixed
from helpers.seeded_codec import seeded_codec
from helpers.tables import each_row
from helpers.tiny_speechlm import CODEC, CODEC_SEED
from polyvox.engines.speechlm import codec_decoder
from polyvox.engines.speechlm.codec_decoder import CodecDecoder, CodecShapes
from polyvox.engines.speechlm.windows import WindowCodes
from polyvox.types import Span

CPU = torch.device("cpu")
LENGTHS = (7, 30, 12, 1, 64, 30)


def codec():
    return seeded_codec(CODEC, CODEC_SEED)


def window(length, start=0, end=None):
    codes = np.random.default_rng(length).integers(0, 65_536, length)
    return WindowCodes(codes, Span(start, 480 * length if end is None else end))


def windows(lengths=LENGTHS):
    return [window(length) for length in lengths]


def alone(window):
    return codec().decode([torch.from_numpy(window.codes)])[0].numpy()[window.wanted.start : window.wanted.end]


@pytest.mark.long
@each_row("shapes", [None, (16, 64), (100,), (8, 16)])
def test_a_window_is_the_same_alone_in_a_batch_and_padded(shapes):
    replay = Fixed()
    decoder = CodecDecoder(codec(), CPU, shapes and CodecShapes(replay, shapes, max_batch=8))
    for given, decoded in zip(windows(), decoder.decode(windows()), strict=True):
        assert decoded.pcm.shape == (480 * len(given),)
        assert decoded.seconds > 0
        np.testing.assert_allclose(decoded.pcm, alone(given), atol=5e-6)


@each_row("shapes", [None, (16, 64)])
def test_only_the_wanted_samples_of_each_window_are_read(shapes):
    decoder = CodecDecoder(codec(), CPU, shapes and CodecShapes(Fixed(), shapes, max_batch=4))
    given = [window(12, 480, 12 * 480), window(12, 2000, 2001), window(16, 0, 4000)]
    whole = decoder.decode([window(len(each)) for each in given])
    for each, all_of_it, decoded in zip(given, whole, decoder.decode(given), strict=True):
        assert np.array_equal(decoded.pcm, all_of_it.pcm[each.wanted.start : each.wanted.end])
        assert decoded.pcm.base is None, "a chunk must not keep its batch"


def test_shapes_are_few_and_captured_before_anybody_waits():
    replay = Fixed()
    decoder = CodecDecoder(codec(), CPU, CodecShapes(replay, (8, 32), max_batch=3))
    decoder.warm()
    assert sorted(replay.shapes) == [("codec", rows, length) for rows in (1, 2, 3) for length in (8, 32)]
    for count in range(1, 4):
        for length in (1, 8, 9, 32):
            decoder.decode(windows([length] * count))
    assert replay.recorded == 6
    assert len(decoder.decode(windows([33]))[0].pcm) == 33 * 480
    assert replay.recorded == 6


def test_windows_of_about_one_length_share_a_call():
    free = CodecDecoder(codec(), CPU)
    assert [free.bucket(each) for each in windows((1, 32, 33, 64, 65))] == [32, 32, 64, 64, 128]
    bound = CodecDecoder(codec(), CPU, CodecShapes(Fixed(), (10, 50), max_batch=4))
    assert [bound.bucket(each) for each in windows((1, 10, 11, 50, 51))] == [10, 10, 50, 50, 64]
    bound.warm()


def test_without_shapes_there_is_nothing_to_capture():
    CodecDecoder(codec(), CPU).warm()


def compiling_with(backend, monkeypatch):
    """A test must not need the machine's C++ compiler: what is captured is the same for every backend."""
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend=backend))


@pytest.mark.long
def test_compiled_it_is_the_same_and_captured_once(monkeypatch):
    compiling_with("eager", monkeypatch)
    decoder = CodecDecoder(codec(), CPU, compiled=True)
    decoder.warm()
    captured = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    for lengths in ((7, 7), LENGTHS, (1,), (64,)):
        for given, decoded in zip(windows(lengths), decoder.decode(windows(lengths)), strict=True):
            np.testing.assert_allclose(decoded.pcm, alone(given), atol=5e-6)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == captured


@pytest.mark.long
def test_a_machine_that_cannot_compile_says_why(monkeypatch):
    def broken(graph, given):
        raise AssertionError("no compiler here")

    compiling_with(broken, monkeypatch)
    with pytest.raises(RuntimeError, match="no compiler here"):
        CodecDecoder(codec(), CPU, compiled=True).warm()


class Marks:
    """A GPU's: they are waited for until the test lets the device go on."""

    def __init__(self, waits):
        self._passed = threading.Event()
        waits.append(self._passed)

    def mark(self):
        pass

    def wait(self):
        assert self._passed.wait(10)
        return [0.5]


@pytest.fixture
def waits(monkeypatch):
    """As on a GPU: two lanes; the event of each batch that was launched."""
    found = []
    monkeypatch.setattr(codec_decoder, "lanes", lambda device: 2)
    monkeypatch.setattr(codec_decoder, "StepMarks", lambda device, tokens: Marks(found))
    return found


def launched(waits, count):
    """Wait until so many batches were launched."""
    for _ in range(1000):
        if len(waits) >= count:
            return True
        threading.Event().wait(0.01)
    return False


def test_a_batch_is_launched_while_the_one_before_is_awaited_and_overwrites_nothing(waits):
    decoder = CodecDecoder(codec(), CPU, CodecShapes(Fixed(), (16, 64), max_batch=4))
    batches = [windows(lengths) for lengths in ((7, 12), (64, 30), (12, 7, 1))]
    with ThreadPoolExecutor(3) as threads:
        decoding = [threads.submit(decoder.decode, batch) for batch in batches[:2]]
        assert launched(waits, 2)
        decoding.append(threads.submit(decoder.decode, batches[2]))
        threading.Event().wait(0.05)
        assert len(waits) == 2, "both buffers are in use"
        for passed in waits:
            passed.set()
        assert launched(waits, 3)
        waits[2].set()
    for batch, each in zip(batches, decoding, strict=True):
        for given, decoded in zip(batch, each.result(), strict=True):
            np.testing.assert_allclose(decoded.pcm, alone(given), atol=5e-6)
            assert decoded.seconds == 0.5 / len(batch)


def test_a_batch_that_fails_leaves_its_buffer_to_others(waits):
    decoder = CodecDecoder(codec(), CPU, CodecShapes(Fixed(), (16,), max_batch=2))
    for _ in range(3):
        with pytest.raises(ValueError, match="broadcast"):
            decoder.decode([WindowCodes(np.zeros((2, 3), np.int64), Span(0, 1))])
    with ThreadPoolExecutor(1) as threads:
        decoding = threads.submit(decoder.decode, windows([16]))
        assert launched(waits, 4)
        waits[-1].set()
        np.testing.assert_allclose(decoding.result()[0].pcm, alone(window(16)), atol=5e-6)
