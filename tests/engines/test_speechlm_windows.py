"""Windowed decoding against the samples of the original server, and its rules."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from helpers.examples import examples
from helpers.seeded_codec import seeded_codec
from helpers.tables import each_row
from polyvox.engines.speechlm.windows import WindowCrossfade, WindowCursor, WindowPolicy
from polyvox.models.speechlm.neucodec import NeuCodecConfig
from polyvox.types import ChunkPolicy

GOLDEN = Path(__file__).parents[1] / "golden"
CONFIG = NeuCodecConfig(hidden=64, depth=2, heads=4, hop=480)
SEED = 41
RATE = 24_000
TOKENS_PER_SECOND = 50


@cache
def golden(name, folder="ttsapi_stream"):
    return {key: tensor.numpy() for key, tensor in load_file(GOLDEN / folder / f"{name}.safetensors").items()}


def policy(playback_speed, overlap):
    return WindowPolicy.steady(int(playback_speed * TOKENS_PER_SECOND), max(1, int(overlap * TOKENS_PER_SECOND)))


def windows_of(count, rule):
    """All windows of an utterance whose tokens come one by one."""
    cursor, found = WindowCursor(rule), []
    for arrived in range(count + 1):
        while (window := cursor.next(arrived, ended=arrived == count)) is not None:
            found.append(window)
            cursor = cursor.after(window)
    return found


def spoken(ids, rule):
    codec = seeded_codec(CONFIG, SEED)
    windows, crossfade = windows_of(len(ids), rule), WindowCrossfade(CONFIG.hop, RATE)
    rows = [torch.from_numpy(ids[window.decoded.start : window.decoded.end]) for window in windows]
    return [
        pushed(crossfade, window, codec.decode([row])[0].numpy()) for window, row in zip(windows, rows, strict=True)
    ]


def pushed(crossfade, window, pcm):
    """Samples that nobody wants are not there."""
    wanted = crossfade.wanted(window)
    return crossfade.push(window, pcm[wanted.start : wanted.end].copy())


def as_the_original_writes(pcm):
    return (np.clip(pcm, -1, 1) * 32767).astype(np.int16)


def assert_same_samples(ours, theirs):
    """Its 16 bits are cut off, not rounded, so that one float in a thousand lands on the other side of a step."""
    assert ours.shape == theirs.shape
    steps = np.abs(as_the_original_writes(ours).astype(int) - theirs)
    assert steps.max() <= 1
    assert (steps > 0).mean() < 1e-3


@pytest.mark.long
@each_row(
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
def test_windows_chunks_and_samples_are_those_of_the_original(name, playback_speed, overlap):
    tensors, rule = golden(name), policy(playback_speed, overlap)
    windows = windows_of(len(tensors["ids"]), rule)
    assert [len(window.decoded) for window in windows] == tensors["decode_tokens"].tolist()
    chunks = spoken(tensors["ids"], rule)
    assert [2 * len(chunk) for chunk in chunks] == tensors["chunk_bytes"].tolist()
    assert_same_samples(np.concatenate(chunks), tensors["pcm"])


def test_the_original_streamed_as_wav_has_a_header_of_44_bytes_before_the_same_samples():
    tensors = golden("wav_stream")
    assert_same_samples(np.concatenate(spoken(tensors["ids"], policy(1.5, 0.2))), tensors["pcm"][44:].view("<i2"))


def test_one_window_over_everything_is_the_unstreamed_speech():
    ids = golden("ps1.5_ov0.2")["ids"]
    assert_same_samples(np.concatenate(spoken(ids, policy(10.0, 0.2))), golden("one_shot")["pcm"])


@pytest.mark.long
@each_row(
    ("name", "playback_speed", "overlap"),
    [("ps1.5_ov0.2", 1.5, 0.2), ("ps0.5_ov0.1", 0.5, 0.1), ("ps0.1_ov0.02", 0.1, 0.02)],
)
def test_the_original_without_crossfades_is_as_long_but_cut_elsewhere(name, playback_speed, overlap):
    """That mode looks back a whole chunk, never ahead, and cuts at a zero crossing that depends on the samples."""
    tensors = golden(name, "ttsapi_stream_legacy")
    chunks = spoken(tensors["ids"], policy(playback_speed, overlap))
    assert sum(map(len, chunks)) == len(tensors["pcm"]) == 480 * len(tensors["ids"])
    assert [2 * len(chunk) for chunk in chunks] != tensors["chunk_bytes"].tolist()


def test_the_original_without_crossfades_loses_speech_that_is_kept_here():
    tensors = golden("ps2.0_ov0.0", "ttsapi_stream_legacy")
    assert len(tensors["pcm"]) == 35_040
    assert sum(map(len, spoken(tensors["ids"], policy(2.0, 0.0)))) == 83_040


def test_the_original_without_crossfades_gives_the_same_samples_where_nothing_is_cut():
    tensors = golden("ps10.0_ov0.2", "ttsapi_stream_legacy")
    assert_same_samples(np.concatenate(spoken(tensors["ids"], policy(10.0, 0.2))), tensors["pcm"])


@given(
    count=st.integers(0, 400),
    first=st.integers(1, 60),
    growth=st.floats(1.0, 4.0),
    maximum=st.integers(1, 200),
    past=st.integers(1, 100),
    ahead=st.integers(1, 40),
)
@examples(60)
def test_windows_cover_every_token_once_and_in_order(count, first, growth, maximum, past, ahead):
    rule = WindowPolicy(ChunkPolicy(first, growth, maximum), past, ahead)
    windows = windows_of(count, rule)
    done = 0
    for window in windows:
        assert window.new.start == done < window.new.end
        assert window.decoded.start == max(0, done - past)
        assert window.new.end <= window.decoded.end <= count
        done = window.new.end
    assert done == count
    assert all(len(window.decoded) <= past + ahead + max(first, maximum) + ahead for window in windows)


@pytest.mark.long
@given(lengths=st.lists(st.integers(1, 50), min_size=1, max_size=8), context=st.integers(1, 9))
@examples(60)
def test_a_steady_signal_passes_the_seams_unchanged(lengths, context):
    count = sum(lengths)
    signal = np.sin(np.arange(count * 480) / 50).astype(np.float32)
    crossfade, start, joined = WindowCrossfade(480, RATE), 0, []
    for length in lengths:
        rule = WindowPolicy.steady(length, context)
        window = WindowCursor(rule, done=start).next(count, ended=True)
        joined.append(pushed(crossfade, window, signal[window.decoded.start * 480 : window.decoded.end * 480]))
        start = window.new.end
        if start == count:
            break
    np.testing.assert_allclose(np.concatenate(joined)[: start * 480 - 144], signal[: start * 480 - 144], atol=1e-6)


def test_no_window_comes_of_no_tokens():
    assert WindowCursor(policy(1.5, 0.2)).next(0, ended=True) is None


def test_later_windows_are_longer_and_look_back_further():
    rule = WindowPolicy(ChunkPolicy(25, 2.0, 100), past=150, ahead=5)
    windows = windows_of(400, rule)
    assert [len(window.new) for window in windows] == [25, 50, 100, 100, 100, 25]
    assert [window.decoded.start for window in windows] == [0, 0, 0, 25, 125, 225]


@each_row(("size", "context"), [(0, 1), (1, 0), (-3, 2)])
def test_a_policy_that_would_never_advance_is_refused(size, context):
    with pytest.raises(ValueError, match="at least one"):
        WindowPolicy.steady(size, context)
