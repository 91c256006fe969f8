"""The files of a book: chapters, cover, tags, captions, and an even loudness."""

import asyncio
import io
import json
import struct
import zlib
from dataclasses import replace

import av
import numpy as np
import pytest

from polyvox.audio.encode import AudioFormat
from polyvox.books.manuscript import Chapter, Cover, Manuscript
from polyvox.books.narration.chapter_audio import IntegratedLoudness
from polyvox.books.narration.narration import Narration
from polyvox.books.narration.options import BookFormat, BookFormats, FileKind, NarrationOptions
from polyvox.books.pictures import picture_size, read_cover
from polyvox.errors import ConflictError, ManuscriptError
from polyvox.text.captions import CaptionFormat
from polyvox.types import AudioChunk
from tests.helpers.epubs import JPEG
from tests.helpers.narrated_book import RATE, tone


def png(side=8):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + b"\x80\x20\x20" * side) * side)
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


COVER = Cover(png(), "image/png")
BOOK = Manuscript(
    "The Tïde",
    "Ann Author",
    "en",
    COVER,
    (
        Chapter("Chapter 1", ("The tide came in, and it came in fast. Nobody saw it.", "So it went out again.")),
        Chapter("", ("A chapter without a title. It is a loud one.",)),
        Chapter("Bab 3: 潮", ("The last one.",)),
    ),
)
LEVELS = (0.1, 0.9, 0.3)


class Threads:
    async def run(self, fn):
        return await asyncio.to_thread(fn)


async def voice(passage):
    """Noise with syllables, soft in the first chapter and loud in the second."""
    chapter = 0 if passage.index < 4 else 1 if passage.index < 6 else 2
    generator = np.random.default_rng(passage.seed)
    async for chunk in tone(replace(passage, text=" ".join([passage.text] * 16))):
        noise = np.convolve(generator.standard_normal(len(chunk.pcm)), np.ones(12) / 3, "same")
        envelope = 0.6 + 0.4 * np.sin(np.arange(len(noise)) / RATE * 2 * np.pi * 4)
        loud = np.abs(chunk.pcm) > 0
        pcm = np.clip(noise * 0.25, -1, 1) * envelope * LEVELS[chapter] * loud
        words = tuple(word for word in chunk.words if word.span.end <= len(passage.text))
        yield replace(chunk, pcm=pcm.astype(np.float32), words=words)


@pytest.fixture(scope="module")
def narration(tmp_path_factory):
    found = Narration.create(tmp_path_factory.mktemp("book"), BOOK, NarrationOptions(seed=1))
    asyncio.run(found.narrate(voice))
    return found


def bind(narration, **formats):
    shares = []
    files = asyncio.run(narration.bind(BookFormats(**formats), Threads(), shares.append))
    assert shares == sorted(shares)
    return files


@pytest.fixture(scope="module")
def bound(narration):
    files = bind(
        narration,
        books=tuple(BookFormat),
        chapters=AudioFormat.MP3,
        captions=(CaptionFormat.SRT, CaptionFormat.WORD_VTT, CaptionFormat.JSON),
        narrator="af_heart",
    )
    return {file.name: file for file in files}


def decoded(path):
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
        rate = container.streams.audio[0].rate
    pcm = np.concatenate([frame.reshape(-1) for frame in frames])
    return (pcm / 32768 if pcm.dtype == np.int16 else pcm).astype(np.float32), rate


def test_every_file_is_listed_with_its_kind(bound):
    assert list(bound) == [
        "book.m4b", "book.mp3", "book.opus", "chapter-001.mp3", "chapter-002.mp3", "chapter-003.mp3",
        "chapter-001.srt", "chapter-001.words.vtt", "chapter-001.json", "chapter-002.srt", "chapter-002.words.vtt",
        "chapter-002.json", "chapter-003.srt", "chapter-003.words.vtt", "chapter-003.json", "book.srt",
        "book.words.vtt", "book.json",
    ]  # fmt: skip
    assert {(file.kind, file.chapter) for file in bound.values()} >= {(FileKind.BOOK, None), (FileKind.CAPTIONS, 2)}
    assert all(file.bytes == file.path.stat().st_size > 0 for file in bound.values())
    assert not list(bound["book.m4b"].path.parent.glob("*.part"))


@pytest.mark.parametrize("name", ["book.m4b", "book.mp3", "book.opus"])
def test_a_book_has_chapters_tags_and_a_cover(bound, name):
    with av.open(str(bound[name].path)) as container:
        chapters = container.chapters()
        tags = {**container.metadata, **container.streams[0].metadata}
        length = container.duration / 1e6
        pictures = container.streams.video
        picture = bytes(next(container.demux(pictures[0]))) if pictures else b""
    tags = {key.lower(): value for key, value in tags.items()}
    assert [chapter["metadata"]["title"] for chapter in chapters] == ["Chapter 1", "2", "Bab 3: 潮"]
    starts = [float(chapter["start"] * chapter["time_base"]) for chapter in chapters]
    ends = [float(chapter["end"] * chapter["time_base"]) for chapter in chapters]
    assert starts[1:] == pytest.approx(ends[:-1], abs=0.001)
    assert ends[-1] == pytest.approx(length, abs=0.05)
    assert (tags["title"], tags["artist"], tags["composer"]) == ("The Tïde", "Ann Author", "af_heart")
    assert picture == COVER.data


def test_an_m4b_plays_while_it_loads_and_says_that_it_is_an_audiobook(bound):
    data = bound["book.m4b"].path.read_bytes()
    assert data[4:12] == b"ftypM4B "
    assert data.index(b"moov") < data.index(b"mdat")
    with av.open(io.BytesIO(data)) as container:
        assert container.metadata["media_type"] == "2"


@pytest.mark.parametrize("name", ["book.m4b", "book.mp3", "book.opus"])
def test_the_chapter_marks_stand_where_the_chapters_begin(bound, name):
    pcm, rate = decoded(bound[name].path)
    with av.open(str(bound[name].path)) as container:
        starts = [float(chapter["start"] * chapter["time_base"]) for chapter in container.chapters()]
    for start in starts:
        around = np.abs(pcm[int((start) * rate) : int((start + 1.5) * rate)])
        assert np.flatnonzero(around > 0.02)[0] / rate == pytest.approx(0.6, abs=0.09)


def reference_lufs(pcm, rate):
    """FFmpeg's own measurement of the integrated loudness, and of the true peak."""
    graph = av.filter.Graph()
    source = graph.add("abuffer", sample_rate=str(rate), sample_fmt="flt", channel_layout="mono", time_base=f"1/{rate}")
    meter, sink = graph.add("ebur128", "metadata=1:peak=true"), graph.add("abuffersink")
    source.link_to(meter)
    meter.link_to(sink)
    graph.configure()
    found = {}
    for start in range(0, len(pcm), rate // 10):
        frame = av.AudioFrame.from_ndarray(pcm[start : start + rate // 10].reshape(1, -1), "flt", "mono")
        frame.sample_rate, frame.pts = rate, start
        graph.push(frame)
        while True:
            try:
                found.update(graph.pull().metadata)
            except (BlockingIOError, EOFError):
                break
    return float(found["lavfi.r128.I"]), 20 * np.log10(float(found["lavfi.r128.true_peak"]))


def test_chapters_are_equally_loud_and_stay_below_the_peak(bound, narration):
    for file in bind(narration, books=(), chapters=AudioFormat.WAV):
        loudness, peak = reference_lufs(*decoded(file.path))
        assert loudness == pytest.approx(-19.0, abs=0.3)
        assert peak <= -3.0
    for number in (1, 2, 3):
        assert reference_lufs(*decoded(bound[f"chapter-{number:03}.mp3"].path))[1] <= -3.0


def test_the_loudness_is_that_of_the_standard():
    generator = np.random.default_rng(1)
    pcm = (generator.standard_normal(12 * RATE) * 0.05).astype(np.float32)
    pcm[4 * RATE : 8 * RATE] *= 0.01
    meter = IntegratedLoudness(RATE, 1)
    for start in range(0, len(pcm), 7_777):
        meter.push(pcm[start : start + 7_777])
    assert meter.lufs == pytest.approx(reference_lufs(pcm, RATE)[0], abs=0.1)


def test_captions_follow_the_book(bound, narration):
    cues = json.loads(bound["book.json"].path.read_text())
    cues = cues["cues"] if isinstance(cues, dict) else cues
    assert cues[0]["start"] == pytest.approx(0.6, abs=0.1)
    assert "Chapter 1" in str(cues[0])
    assert bound["book.srt"].path.read_text().count("-->") == len(cues)
    with av.open(str(bound["book.m4b"].path)) as container:
        last = container.chapters()[-1]
    spoken = [cue for cue in cues if cue["start"] >= float(last["start"] * last["time_base"])]
    assert "潮" in str(spoken)
    assert bound["chapter-003.srt"].path.read_text().startswith("1\n00:00:00,")


@pytest.mark.long
@pytest.mark.parametrize("audio_format", list(AudioFormat))
def test_chapters_can_be_files_of_any_format(narration, audio_format):
    files = bind(narration, books=(), chapters=audio_format)
    assert [file.media_type for file in files] == [audio_format.media_type] * 3
    if audio_format is AudioFormat.PCM:
        return
    with av.open(str(files[0].path)) as container:
        seconds = sum(frame.samples for frame in container.decode(audio=0)) / container.streams.audio[0].rate
        tags = {**container.metadata, **container.streams[0].metadata}
    assert seconds == pytest.approx(narration_seconds(narration, 0), abs=0.1)
    if audio_format is not AudioFormat.AAC:
        assert {key.lower(): value for key, value in tags.items()}["title"] == "Chapter 1"


def narration_seconds(narration, chapter):
    from polyvox.books.narration.chapter_audio import ChapterAudio

    audio = ChapterAudio(narration.folder, chapter + 1, narration.plan.chapters[chapter], narration.plan.options.pauses)
    return audio.samples / audio.sample_rate


@pytest.mark.long
def test_the_same_book_is_bound_to_the_same_bytes(bound, narration):
    before = {name: bound[name].path.read_bytes() for name in ("book.m4b", "book.mp3", "book.opus")}
    again = bind(narration, books=tuple(BookFormat), narrator="af_heart")
    assert {file.name: file.path.read_bytes() for file in again} == before


def test_a_cancelled_binding_leaves_no_file(narration):
    async def cancelled():
        seen = asyncio.Event()
        binding = asyncio.create_task(
            narration.bind(BookFormats(books=(), chapters=AudioFormat.WAV), Threads(), lambda share: seen.set())
        )
        await seen.wait()
        binding.cancel()
        await asyncio.wait([binding])
        assert binding.cancelled()

    asyncio.run(cancelled())
    assert not list((narration.folder / "bound").glob("*.part"))


def test_a_book_in_stereo_is_bound(tmp_path):
    async def stereo(passage):
        async for chunk in tone(passage):
            yield AudioChunk(np.stack([chunk.pcm, -chunk.pcm], axis=1), RATE, 0, 0, words=chunk.words)

    narration = Narration.create(tmp_path, replace(BOOK, cover=Cover(JPEG, "image/jpeg")), NarrationOptions())
    asyncio.run(narration.narrate(stereo))
    (file,) = bind(narration)
    with av.open(str(file.path)) as container:
        assert container.streams.audio[0].channels == 2
        assert len(container.streams.video) == 1


def test_a_book_that_is_not_spoken_yet_is_not_bound(tmp_path):
    narration = Narration.create(tmp_path, BOOK, NarrationOptions())
    with pytest.raises(ConflictError, match="not spoken"):
        asyncio.run(narration.bind(BookFormats(), Threads()))


def test_covers_are_told_apart_and_measured():
    assert picture_size(read_cover(png(5))) == (5, 5)
    assert picture_size(read_cover(JPEG)) == (6, 4)
    for broken in (b"GIF89a", b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"):
        with pytest.raises(ManuscriptError):
            read_cover(broken)
