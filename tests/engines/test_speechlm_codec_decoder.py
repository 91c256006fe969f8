"""The codec's decoder: windows decoded in one batch, in their own shapes and in captured ones."""

import functools

import numpy as np
import pytest
import torch

from helpers.fixed_shapes import Fixed
from helpers.seeded_codec import seeded_codec
from helpers.tables import each_row
from helpers.tiny_speechlm import CODEC, CODEC_SEED
from polyvox.engines.speechlm.codec_decoder import CodecDecoder, CodecShapes

CPU = torch.device("cpu")
LENGTHS = (7, 30, 12, 1, 64, 30)


def codec():
    return seeded_codec(CODEC, CODEC_SEED)


def windows(lengths=LENGTHS):
    return [np.random.default_rng(length).integers(0, 65_536, length) for length in lengths]


def alone(codes):
    return codec().decode([torch.from_numpy(codes)])[0].numpy()


@pytest.mark.long
@each_row("shapes", [None, (16, 64), (100,), (8, 16)])
def test_a_window_is_the_same_alone_in_a_batch_and_padded(shapes):
    replay = Fixed()
    decoder = CodecDecoder(codec(), CPU, shapes and CodecShapes(replay, shapes, max_batch=8))
    for codes, decoded in zip(windows(), decoder.decode(windows()), strict=True):
        assert decoded.pcm.shape == (480 * len(codes),)
        assert decoded.seconds > 0
        np.testing.assert_allclose(decoded.pcm, alone(codes), atol=5e-6)


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
    assert [free.bucket(codes) for codes in windows((1, 32, 33, 64, 65))] == [32, 32, 64, 64, 128]
    bound = CodecDecoder(codec(), CPU, CodecShapes(Fixed(), (10, 50), max_batch=4))
    assert [bound.bucket(codes) for codes in windows((1, 10, 11, 50, 51))] == [10, 10, 50, 50, 64]
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
        for codes, decoded in zip(windows(lengths), decoder.decode(windows(lengths)), strict=True):
            np.testing.assert_allclose(decoded.pcm, alone(codes), atol=5e-6)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == captured


@pytest.mark.long
def test_a_machine_that_cannot_compile_says_why(monkeypatch):
    def broken(graph, given):
        raise AssertionError("no compiler here")

    compiling_with(broken, monkeypatch)
    with pytest.raises(RuntimeError, match="no compiler here"):
        CodecDecoder(codec(), CPU, compiled=True).warm()
