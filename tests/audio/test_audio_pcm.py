import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from helpers.examples import examples
from helpers.tables import each_row
from polyvox.audio.pcm import check_rate, from_pcm16, scale, shaped, silence, to_pcm16
from polyvox.errors import AudioDecodeError, InvalidRequestError

any_floats = hnp.arrays(np.float32, st.integers(0, 300), elements=st.floats(width=32, allow_nan=True))


@given(st.binary(max_size=600).map(lambda data: data[: len(data) // 4 * 4]), st.sampled_from([1, 2]))
@examples(60)
def test_16_bit_audio_comes_back_unchanged(data: bytes, channels: int) -> None:
    pcm = from_pcm16(data, channels)
    assert pcm.dtype == np.float32
    assert pcm.shape == ((len(data) // 2,) if channels == 1 else (len(data) // 4, 2))
    assert to_pcm16(pcm) == data


@pytest.mark.long
@given(any_floats)
@examples(60)
def test_any_float_becomes_the_nearest_16_bit_value(pcm: np.ndarray) -> None:
    written = np.frombuffer(to_pcm16(pcm), "<i2")
    expected = np.clip(32768 * np.clip(np.nan_to_num(pcm.astype(np.float64)), -1, 1), None, 32767)
    assert np.abs(written - expected).max(initial=0) <= 0.5


def test_the_wire_is_little_endian_and_full_scale_does_not_wrap() -> None:
    pcm = np.array([1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 7.0], np.float32)
    assert to_pcm16(pcm).hex(" ", 2) == "ff7f 0080 0040 0000 ff7f 0080 ff7f"


def test_stereo_is_interleaved() -> None:
    assert to_pcm16(np.array([[0.5, 0.0], [0.0, -0.5]], np.float32)).hex(" ", 2) == "0040 0000 0000 00c0"


@each_row(("data", "channels"), [(b"\0", 1), (b"\0\0\0", 1), (b"\0\0", 2)])
def test_half_a_sample_is_refused(data: bytes, channels: int) -> None:
    with pytest.raises(AudioDecodeError, match="whole sample"):
        from_pcm16(data, channels)


@pytest.mark.long
@given(hnp.arrays(np.float32, 50, elements=st.floats(-1, 1, width=32)), st.floats(0, 20))
@examples(60)
def test_scaling_never_leaves_full_scale(pcm: np.ndarray, gain: float) -> None:
    louder = scale(pcm, gain)
    assert louder.dtype == np.float32
    np.testing.assert_allclose(louder, np.clip(pcm * gain, -1, 1), rtol=1e-5, atol=1e-30)


def test_silence_has_the_length_asked_for() -> None:
    assert silence(0.25, 24_000).shape == (6_000,)
    assert silence(0.25, 24_000, channels=2).shape == (6_000, 2)
    assert not silence(1, 8_000).any()


def test_a_shape_that_is_not_the_streams_is_refused() -> None:
    with pytest.raises(ValueError, match="2 channel"):
        shaped(np.zeros(4, np.float32), 2)
    with pytest.raises(ValueError, match="1 channel"):
        shaped(np.zeros((4, 2), np.float32), 1)


@each_row("rate", [-1, 0, 3_999, 192_001])
def test_absurd_rates_are_refused_by_the_name_of_their_field(rate: int) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        check_rate(rate, "sample_rate")
    assert caught.value.field == "sample_rate"
