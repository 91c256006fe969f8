from pathlib import Path

import numpy as np
import pytest

from helpers.scorers import Encoder
from polyvox.audio.encode import AudioFormat, encode
from polyvox.errors import AudioDecodeError, InvalidRequestError
from polyvox.evaluate import references
from polyvox.evaluate.references import embedded, reference_files


def test_a_file_is_for_all_voices_or_for_one():
    voices = ("ann", "bob", "cay")
    assert reference_files([], voices) == {}
    assert reference_files(["r.wav"], voices) == dict.fromkeys(voices, Path("r.wav"))
    assert reference_files(["bob=b.wav"], voices) == {"bob": Path("b.wav")}
    mixed = reference_files(["bob=b.wav", "r.wav"], voices)
    assert mixed == {"ann": Path("r.wav"), "bob": Path("b.wav"), "cay": Path("r.wav")}


def test_an_equals_sign_may_be_part_of_a_files_name():
    assert reference_files(["take=3.wav"], ("ann",)) == {"ann": Path("take=3.wav")}
    assert reference_files(["ann=take=3.wav"], ("ann",)) == {"ann": Path("take=3.wav")}


def test_two_files_for_all_voices_are_one_too_many():
    with pytest.raises(InvalidRequestError, match="VOICE=FILE"):
        reference_files(["a.wav", "b.wav"], ("ann",))


class Counting(Encoder):
    heard = 0

    def embed(self, pcm, rate):
        self.heard += 1
        return super().embed(pcm, rate)


def test_a_file_that_voices_share_is_heard_once(tmp_path):
    pcm = np.full(8_000, 0.25, np.float32)
    (tmp_path / "r.wav").write_bytes(encode(pcm, AudioFormat.WAV, 8_000))
    encoder = Counting()
    found = embedded(dict.fromkeys(("ann", "bob"), tmp_path / "r.wav"), encoder)
    assert encoder.heard == 1
    assert found["ann"] is found["bob"]


def test_a_file_that_is_no_recording_is_refused(tmp_path):
    (tmp_path / "r.wav").write_text("not a recording")
    with pytest.raises(AudioDecodeError, match="cannot be read"):
        embedded({"ann": tmp_path / "r.wav"}, Encoder())


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(references, "MAX_BYTES", 1_000)
    (tmp_path / "r.wav").write_bytes(bytes(1_001))
    with pytest.raises(InvalidRequestError, match="over 1000 bytes"):
        embedded({"ann": tmp_path / "r.wav"}, Encoder())
