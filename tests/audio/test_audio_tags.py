"""Tags of containers, read back by programs that did not write them."""

import io
import json
import shutil
import subprocess
import wave

import mutagen
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutagen.id3 import ID3

from helpers.audio_signals import played, voice
from polyvox.audio.encode import AudioFormat, StreamEncoder, encode, wav_header
from polyvox.audio.raw_encoding import RawEncoding
from polyvox.audio.wav_tags import read_wav_tags, tag_chunks

TAGS = {
    "comment": "Synthetic speech, made by a computer.",
    "date": "2026-11-18",
    "DIGITALSOURCETYPE": "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia",
    "SOFTWARE": "Polyvox 9 <&>",
    "MODEL": "模型",
    "CONTENT_ID": "0123456789abcdef0123456789abcdef",
}
MARKED = [kind for kind in AudioFormat if kind is not AudioFormat.PCM]
OF_WAV = {"ICMT": "comment", "ICRD": "date", "ISRC": "DIGITALSOURCETYPE", "IARL": "CONTENT_ID", "encoder": "SOFTWARE"}


def files(kind: AudioFormat, tags: dict[str, str]) -> list[bytes]:
    """The same samples as a file and as a stream."""
    pcm = voice(0.5, 24_000)
    with StreamEncoder(kind, 24_000, tags=tags) as encoder:
        return [encode(pcm, kind, 24_000, tags), encoder.encode(pcm) + encoder.finish()]


def probed(data: bytes) -> dict[str, str]:
    command = ["ffprobe", "-v", "error", "-show_entries", "format_tags:stream_tags", "-of", "json", "-"]
    found = json.loads(subprocess.run(command, input=data, capture_output=True, check=True).stdout)
    tags = found["format"].get("tags", {}) | found["streams"][0].get("tags", {}) if found["streams"] else {}
    return {OF_WAV.get(name, name).casefold(): value for name, value in tags.items()}


def by_mutagen(data: bytes, kind: AudioFormat) -> dict[str, str]:
    if kind in (AudioFormat.MP3, AudioFormat.AAC):
        tags = ID3(io.BytesIO(data))
        named = {"COMM": "comment", "TDRC": "date"}
        found = {named.get(key.partition(":")[0], key.removeprefix("TXXX:")): str(tags[key]) for key in tags}
    else:
        tags = mutagen.File(io.BytesIO(data)).tags
        found = {"comment" if name == "description" else name: values[0] for name, values in tags.items()}
    return {name.casefold(): value for name, value in found.items()}


@pytest.mark.long
@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffprobe is not installed")
def test_ffprobe_reads_the_tags_of_every_format_in_files_and_streams():
    for kind in MARKED:
        for data in files(kind, TAGS):
            found = probed(data)
            expected = {name.casefold(): value for name, value in TAGS.items()}
            if kind is AudioFormat.WAV:
                del expected["model"]  # which RIFF INFO has no field for; iXML holds it
            assert {name: found.get(name) for name in expected} == expected, kind


def test_mutagen_reads_the_tags_of_every_format_that_it_knows():
    for kind in (AudioFormat.MP3, AudioFormat.AAC, AudioFormat.OPUS, AudioFormat.FLAC):
        for data in files(kind, TAGS):
            found = by_mutagen(data, kind)
            expected = {name.casefold(): value for name, value in TAGS.items()}
            assert {name: found.get(name) for name in expected} == expected, kind


def test_tags_change_no_sample():
    for kind in MARKED:
        for marked, plain in zip(files(kind, TAGS), files(kind, {}), strict=True):
            assert np.array_equal(played(marked)[0], played(plain)[0]), kind
            assert 0 < len(marked) - len(plain) < 1_000, kind


def test_a_wav_header_without_tags_has_44_bytes_and_with_them_stands_before_the_samples():
    assert len(wav_header(24_000, 1, 0)) == 44
    for data in files(AudioFormat.WAV, TAGS):
        assert data.endswith(files(AudioFormat.WAV, {})[0][44:])
        assert read_wav_tags(data) == TAGS
    with wave.open(io.BytesIO(files(AudioFormat.WAV, TAGS)[0])) as file:
        assert file.getnframes() == 12_000


def test_companded_and_float_wav_streams_are_tagged_too():
    for samples in RawEncoding:
        data = samples.wav_header(8_000, 1, TAGS) + samples.pack(voice(0.5, 8_000))
        assert read_wav_tags(data) == TAGS
        assert played(data)[1] == 8_000


@given(st.binary(max_size=400), st.integers(0, 200), st.integers(0, 255))
def test_hostile_wav_files_are_read_without_a_fault(noise, position, value):
    read_wav_tags(noise)
    read_wav_tags(b"RIFF\0\0\0\0WAVE" + noise)
    damaged = bytearray(b"RIFF\0\0\0\0WAVE" + tag_chunks(TAGS))
    damaged[position] = value
    assert all(isinstance(text, str) for text in read_wav_tags(bytes(damaged)).values())


def test_an_ixml_document_with_entities_is_not_read():
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><BWFXML><USER><MODEL>&a;</MODEL></USER></BWFXML>'
    data = b"RIFF\0\0\0\0WAVEiXML" + len(bomb).to_bytes(4, "little") + bomb
    assert read_wav_tags(data) == {}
