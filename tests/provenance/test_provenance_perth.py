"""Perth's watermark against its original, and as a stream.

`golden/perth/perth.npz` holds what the package resemble-perth 1.0.1 makes at 32 kHz of 0.75 s of a recording, with a
stretch of digital silence in it: with a small network of random weights, which are in the file too, and with the
published ones.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, StreamEncoder
from polyvox.audio.resample import resampled
from polyvox.bundles.onnx_graphs.perth import perth_finder_graph, perth_marker_graph
from polyvox.bundles.validate import Bundle
from polyvox.errors import BundleError
from polyvox.provenance.perth.watermarker import Perth
from polyvox.provenance.verification import Evidence, Exhibit, Verdict, Verifier
from polyvox.provenance.watermark import Watermarker
from polyvox.provenance.watermarks import installed_watermarker, open_watermarker, search_for
from polyvox.types import Pcm

TESTS = Path(__file__).parents[1]
GOLDEN = dict(np.load(TESTS / "golden" / "perth" / "perth.npz"))
SAMPLES: Pcm = GOLDEN["samples"].astype(np.float32) / 32_768
RATE = 32_000


@pytest.fixture(scope="module")
def tiny() -> Perth:
    weights = {name: values for name, values in GOLDEN.items() if name.startswith("model.")}
    return Perth(perth_marker_graph(weights), perth_finder_graph(weights))


@pytest.fixture(scope="module")
def published(installed: Callable[[str], Bundle]) -> Perth:
    return Perth.installed(installed("perth").folder.parent)


def marked(perth: Watermarker, pcm: Pcm, rate: int, blocks: Sequence[int] = ()) -> Pcm:
    """The marked samples; they are pushed in blocks of these lengths, and what is left at once."""
    stream = perth.stream(rate, 1 if pcm.ndim == 1 else 2)
    cuts = np.cumsum(blocks, dtype=np.int64)
    return np.concatenate((*(stream.push(part) for part in np.split(pcm, cuts)), stream.finish()))


def speech(rate: int) -> Pcm:
    data = (TESTS / "recordings" / "librivox_a.flac").read_bytes()
    return resampled(*decode(data, max_seconds=10, max_samples=10**6), rate)


def test_the_mark_is_that_of_the_original(tiny):
    assert np.abs(GOLDEN["tiny_marked"] - SAMPLES).max() > 1e-3
    np.testing.assert_allclose(marked(tiny, SAMPLES, RATE), GOLDEN["tiny_marked"], atol=2e-6)


def test_the_score_is_that_of_the_original(tiny):
    for pcm, score in zip((SAMPLES, GOLDEN["tiny_marked"]), GOLDEN["tiny_scores"], strict=True):
        assert tiny.find(pcm, RATE).confidence == pytest.approx(np.clip(score, 0, 1), abs=1e-4)


@pytest.mark.slow
def test_the_published_weights_mark_and_find_as_the_original_does(published):
    np.testing.assert_allclose(marked(published, SAMPLES, RATE), GOLDEN["published_marked"], atol=2e-6)
    for pcm, score in zip((SAMPLES, GOLDEN["published_marked"]), GOLDEN["published_scores"], strict=True):
        assert published.find(pcm, RATE).confidence == pytest.approx(np.clip(score, 0, 1), abs=1e-3)


def test_a_stream_is_marked_as_the_whole_however_it_arrives(tiny):
    for rate in (24_000, 22_050):
        pcm = speech(rate)[: 2 * rate]
        whole = marked(tiny, pcm, rate)
        assert len(whole) == len(pcm)
        for blocks in ([1, 100, 30_000], [240] * 150, [7_000, 0, 1, 9_000]):
            np.testing.assert_allclose(marked(tiny, pcm, rate, blocks), whole, atol=1e-6, err_msg=f"{rate} {blocks}")


def test_no_more_than_a_third_of_a_second_is_held_back(tiny):
    stream, pushed, ready = tiny.stream(24_000, 1), 0, 0
    for start in range(0, 48_000, 480):
        ready += len(stream.push(speech(24_000)[start : start + 480]))
        pushed += 480
        assert pushed - ready <= 0.33 * 24_000
    assert ready > 0


def test_the_shortest_streams_keep_their_length(tiny):
    for length in (0, 1, 2, 500, 768, 769, 1_000):
        for rate in (24_000, 11_025):
            assert len(marked(tiny, speech(rate)[:length], rate)) == length


def test_only_frequencies_below_two_kilohertz_change(tiny):
    pcm = speech(24_000)[:48_000]
    mark = np.abs(np.fft.rfft((marked(tiny, pcm, 24_000) - pcm) * np.hanning(len(pcm))))
    hertz = np.fft.rfftfreq(len(pcm), 1 / 24_000)
    assert np.square(mark[hertz > 2_100]).sum() < 1e-4 * np.square(mark).sum()


def test_digital_silence_stays_silent(tiny):
    assert not marked(tiny, np.zeros(24_000, np.float32), 24_000).any()
    assert tiny.find(np.zeros(24_000, np.float32), 24_000).confidence == 0.0
    assert not tiny.find(np.zeros(0, np.float32), 24_000).found


def test_each_channel_has_the_mark_that_it_would_have_alone(tiny):
    left = speech(24_000)[:24_000]
    both = marked(tiny, np.stack((left, left[::-1]), axis=1), 24_000)
    np.testing.assert_allclose(both[:, 0], marked(tiny, left, 24_000), atol=1e-6)
    np.testing.assert_allclose(both[:, 1], marked(tiny, left[::-1], 24_000), atol=1e-6)


@pytest.mark.slow
def test_a_mark_of_two_seconds_is_found_within_a_long_recording(published):
    pcm = np.tile(speech(16_000), 3)[: 8 * 16_000]
    part = slice(4 * 16_000, 6 * 16_000)
    assert not published.find(pcm, 16_000).found
    pcm[part] = marked(published, pcm[part].copy(), 16_000)
    assert published.find(pcm, 16_000).found


def test_a_finding_says_how_sure_it_is(tiny):
    finding = search_for(tiny)(GOLDEN["tiny_marked"], RATE)
    assert (finding.evidence, finding.verdict) == (Evidence.WATERMARK, Verdict.NOT_FOUND)
    assert finding.confidence == pytest.approx(GOLDEN["tiny_scores"][1], abs=1e-4)


@pytest.mark.slow
def test_only_the_watermark_is_left_of_speech_that_was_encoded_again(published):
    pcm = marked(published, speech(24_000), 24_000)
    with StreamEncoder(AudioFormat.OPUS, 24_000, bit_rate=24_000) as encoder:
        data = encoder.encode(pcm) + encoder.finish()
    samples = decode(data, max_seconds=60, max_samples=10**7)
    findings = Verifier(lambda _: None, (), search_for(published)).verify(Exhibit(data, {}, samples))
    assert [each.verdict for each in findings.findings] == [Verdict.NOT_FOUND, Verdict.NOT_FOUND, Verdict.FOUND]
    assert findings.synthetic


def test_a_server_without_the_model_refuses_to_start_unmarked(tmp_path):
    with pytest.raises(BundleError, match="perth"):
        open_watermarker("perth", tmp_path)
    assert open_watermarker("none", tmp_path) is None
    assert installed_watermarker(tmp_path) is None
