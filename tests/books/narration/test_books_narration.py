"""A narration in a folder: durable, in order, and the same however often it is interrupted."""

import asyncio
import dataclasses
import itertools
import json
import os
import resource
import signal
import subprocess
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from helpers.fork_server import forked_python
from polyvox.books.manuscript import Chapter, Manuscript
from polyvox.books.narration.chapter_audio import ChapterAudio
from polyvox.books.narration.journal import BrokenNarrationError
from polyvox.books.narration.narration import Narration
from polyvox.books.narration.options import BookFormats, NarrationOptions, Pauses
from polyvox.books.narration.passage_check import CheckCounts, PassageCheck
from polyvox.books.narration.trimming import joined_passage
from polyvox.errors import ConflictError, EngineError, MarkupError, NotFoundError, SilentTextError
from polyvox.text.captions import CaptionFormat
from polyvox.types import AudioChunk, Span, WordTiming
from tests.helpers.narrated_book import RATE, book, narrate, tone

BOOK = Manuscript(
    "A Short Book",
    "Ann Author",
    "en",
    None,
    (Chapter("One", ("Hello there. How are you?", "Fine.")), Chapter("Two", ("Yes. [voice:bert] No.",))),
)


class Threads:
    async def run(self, fn):
        return await asyncio.to_thread(fn)


def resident():
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_a_narration_is_spoken_in_order_and_counts_its_sentences(tmp_path):
    narration = Narration.create(tmp_path / "book", BOOK, NarrationOptions(seed=3))
    seen = []
    asyncio.run(narration.narrate(tone, lambda progress: seen.append(progress.sentences_done)))
    assert seen == list(range(1, 8))
    opened = Narration.open(tmp_path / "book")
    assert opened.progress == narration.progress
    assert opened.progress.done
    assert [passage.voice for chapter in opened.plan.chapters for passage in chapter.passages][-2:] == [None, "bert"]


def test_a_plan_that_version_0_1_wrote_is_gone_on_with(tmp_path):
    plan = Narration.create(tmp_path, BOOK, NarrationOptions(seed=3)).plan
    book, *rest = map(json.loads, (tmp_path / "plan.json").read_text(encoding="utf-8").splitlines())
    chapters = [{"title": title, "passages": passages} for title, passages in zip(rest[::2], rest[1::2], strict=True)]
    (tmp_path / "plan.json").write_text(json.dumps(book | {"version": 1, "chapters": chapters}), encoding="utf-8")
    assert Narration.open(tmp_path).plan == plan


def test_what_was_heard_is_kept_with_its_passage_and_reported_when_the_book_is_bound(tmp_path):
    async def checked(passage):
        async for chunk in tone(passage):
            yield chunk
        if passage.index == 0:
            yield PassageCheck(words=1, wrong=1, first_wrong=1, heard="Won ton", takes=2, passed=False)
        elif passage.index == 6:
            yield PassageCheck(unheard="Nobody hears it.")
        else:
            yield PassageCheck(words=2)

    def enough(progress):
        if progress.sentences_done == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        asyncio.run(Narration.create(tmp_path, BOOK, NarrationOptions(verify=True)).narrate(checked, enough))
    narration = Narration.open(tmp_path)
    assert narration.progress.checks == CheckCounts(checked=2, respoken=1, remaining=1)
    asyncio.run(narration.narrate(checked))
    assert Narration.open(tmp_path).progress.checks == CheckCounts(checked=6, respoken=1, remaining=1, unchecked=1)
    *_, file = asyncio.run(narration.bind(BookFormats(), Threads()))
    report = json.loads(file.path.read_bytes())
    assert (file.name, file.kind) == ("book.check.json", "report")
    assert [(one["sentence"], one["chapter"]) for one in report["sentences"]] == [(1, 1), (7, 2)]
    assert (report["sentences"][0]["heard"], report["sentences"][1]["unchecked"]) == ("Won ton", "Nobody hears it.")
    assert (report["words"], report["wrong_words"]) == (11, 1)


def test_a_folder_holds_one_narration(tmp_path):
    Narration.create(tmp_path, BOOK, NarrationOptions())
    with pytest.raises(ConflictError):
        Narration.create(tmp_path, BOOK, NarrationOptions())
    with pytest.raises(NotFoundError):
        Narration.open(Path(tmp_path) / "elsewhere")


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


async def bound(folder, **formats):
    return await Narration.open(folder).bind(BookFormats(**formats), Threads())


@pytest.mark.long
def test_a_narration_killed_three_times_ends_byte_for_byte_like_one_never_killed(tmp_path):
    for killed_after in (30, 71, 2):
        command = [forked_python(), "-m", "tests.helpers.narrated_book", str(tmp_path / "killed"), str(killed_after)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    narrate(tmp_path / "killed")
    narrate(tmp_path / "whole")
    assert Narration.open(tmp_path / "killed").progress.done
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    killed, whole = (asyncio.run(bound(tmp_path / name, captions=(CaptionFormat.VTT,))) for name in ("killed", "whole"))
    assert [file.path.read_bytes() for file in killed] == [file.path.read_bytes() for file in whole]


def half_narrated(folder, sentences=6):
    """A narration that stopped behind some sentences."""

    async def stop(narration):
        def enough(progress):
            if progress.sentences_done == sentences:
                raise RuntimeError("enough")

        await narration.narrate(tone, enough)

    with pytest.raises(RuntimeError, match="enough"):
        asyncio.run(stop(Narration.create(folder, book(12, 2), NarrationOptions())))


@pytest.mark.long
@pytest.mark.parametrize("cut", [1, 10, 200])
@pytest.mark.parametrize("ending", ["journal", "pcm"])
def test_a_torn_end_is_spoken_again(tmp_path, cut, ending):
    half_narrated(tmp_path / "torn")
    half_narrated(tmp_path / "whole")
    file = tmp_path / "torn" / f"0001.{ending}"
    file.write_bytes(file.read_bytes()[:-cut])
    assert Narration.open(tmp_path / "torn").progress.sentences_done < 6
    for name in ("torn", "whole"):
        asyncio.run(Narration.open(tmp_path / name).narrate(tone))
    assert files(tmp_path / "torn") == files(tmp_path / "whole")


def test_bytes_behind_the_end_of_a_journal_are_written_over(tmp_path):
    half_narrated(tmp_path / "torn")
    half_narrated(tmp_path / "whole")
    for ending in ("journal", "pcm"):
        with (tmp_path / "torn" / f"0001.{ending}").open("ab") as file:
            file.write(b"half a recor")
    for name in ("torn", "whole"):
        asyncio.run(Narration.open(tmp_path / name).narrate(tone))
    assert files(tmp_path / "torn") == files(tmp_path / "whole")


def test_altered_audio_is_found_when_the_book_is_bound(tmp_path):
    narration = Narration.create(tmp_path, book(2, 1), NarrationOptions())
    asyncio.run(narration.narrate(tone))
    audio = bytearray((tmp_path / "0001.pcm").read_bytes())
    audio[1000] ^= 1
    (tmp_path / "0001.pcm").write_bytes(audio)
    with pytest.raises(BrokenNarrationError, match="damaged"):
        asyncio.run(bound(tmp_path))


def test_a_finished_narration_speaks_nothing_more(tmp_path):
    asyncio.run(Narration.create(tmp_path, book(3, 1), NarrationOptions()).narrate(tone))

    def never(passage):
        raise AssertionError(passage)

    asyncio.run(Narration.open(tmp_path).narrate(never))


def test_two_processes_do_not_narrate_one_folder(tmp_path):
    narration = Narration.create(tmp_path, book(3, 1), NarrationOptions())

    async def twice():
        async def second(passage):
            await Narration.open(tmp_path).narrate(tone)
            yield

        await narration.narrate(second)

    with pytest.raises(ConflictError, match="another process"):
        asyncio.run(twice())


def test_passages_are_spoken_a_few_at_once_and_kept_in_order(tmp_path):
    speaking, most, begun = 0, 0, []

    async def late_first(passage):
        nonlocal speaking, most
        speaking, begun[len(begun) :] = speaking + 1, [passage.index]
        most = max(most, speaking)
        await asyncio.sleep(0.003 * (3 - passage.index % 4))
        async for chunk in tone(passage):
            yield chunk
        speaking -= 1

    asyncio.run(Narration.create(tmp_path / "many", book(12, 2), NarrationOptions()).narrate(late_first, ahead=4))
    asyncio.run(Narration.create(tmp_path / "one", book(12, 2), NarrationOptions()).narrate(tone, ahead=1))
    assert most == 4
    assert begun == list(range(14))
    assert files(tmp_path / "many") == files(tmp_path / "one")


def test_markup_that_cannot_be_obeyed_is_refused_before_anything_is_spoken(tmp_path):
    late = Manuscript("", "", "", None, (Chapter("One", ("Fine.",)), Chapter("Two", ("So. Wait [pause:soon] there.",))))
    with pytest.raises(MarkupError, match="Sentence 5, in chapter 2: The pause 'soon'"):
        Narration.create(tmp_path, late, NarrationOptions())
    assert not list(tmp_path.iterdir())


def test_a_failing_voice_loses_nothing_that_was_spoken(tmp_path):
    narration = Narration.create(tmp_path, book(12, 2), NarrationOptions())

    async def fails(passage):
        if passage.index == 5:
            raise EngineError("the engine broke")
        async for chunk in tone(passage):
            yield chunk

    with pytest.raises(EngineError):
        asyncio.run(narration.narrate(fails))
    assert Narration.open(tmp_path).progress.sentences_done == 5


def test_a_sentence_without_words_is_passed_over(tmp_path):
    narration = Narration.create(tmp_path, book(4, 1), NarrationOptions())

    async def silent(passage):
        if passage.index == 0:
            raise SilentTextError("nothing")
        async for chunk in tone(passage):
            yield chunk

    asyncio.run(narration.narrate(silent))
    assert narration.progress.done


def test_the_edges_of_speech_are_part_of_the_pauses(tmp_path):
    pauses = Pauses(sentence=0.5, paragraph=1.0, scene=2.0, title=1.5, opening=0.7, closing=2.5)
    chapter = Chapter("Title", ("One two. Three four.", "* * *", "Five six.", "Seven."))
    book_ = Manuscript("", "", "", None, (chapter,))
    narration = Narration.create(tmp_path, book_, NarrationOptions(pauses=pauses))
    asyncio.run(narration.narrate(tone))
    audio = ChapterAudio(tmp_path, 1, narration.plan.chapters[0], pauses)
    pcm = np.concatenate(list(audio.pieces()))
    assert len(pcm) == audio.samples
    loud = np.flatnonzero(np.abs(pcm) > 1e-3) / RATE
    gaps = [later - sooner for sooner, later in itertools.pairwise(loud) if later - sooner > 0.1]
    assert gaps == pytest.approx([1.5, 0.5, 2.0, 1.0], abs=0.012)
    assert loud[0] == pytest.approx(0.7, abs=0.012)
    assert len(pcm) / RATE - loud[-1] == pytest.approx(2.5, abs=0.012)
    starts = [words[0].start for _, words in audio.words()]
    heard = [loud[0], *(later for sooner, later in itertools.pairwise(loud) if later - sooner > 0.1)]
    assert starts == pytest.approx(heard, abs=0.012)


def test_a_pause_that_the_text_asks_for_is_kept(tmp_path):
    chunk = AudioChunk(np.concatenate([np.full(2400, 0.3), np.zeros(48_000)]).astype(np.float32), RATE, 0, 0)
    assert len(joined_passage([chunk], "Wait. [pause:2s]").pcm) == 50_400
    assert len(joined_passage([chunk], "Wait.").pcm) < 6_000


def test_a_voice_at_another_rate_is_resampled_to_the_first(tmp_path):
    async def other(passage):
        async for chunk in tone(passage):
            rate = RATE if passage.index == 0 else 16_000
            yield dataclasses.replace(chunk, sample_rate=rate, start=0)

    narration = Narration.create(tmp_path, book(2, 1), NarrationOptions())
    asyncio.run(narration.narrate(other))
    audio = ChapterAudio(tmp_path, 1, narration.plan.chapters[0], Pauses())
    assert {placed.entry.sample_rate for placed in audio.passages()} == {RATE}


@pytest.mark.long
def test_a_book_of_100_000_words_is_narrated_in_bounded_memory(tmp_path):
    sentence = "The tide came in and went out again, and nobody on the shore saw it, " * 2 + "for they slept. "
    chapters = tuple(Chapter(f"Chapter {n}", (sentence * 10,) * 10) for n in range(32))
    manuscript = Manuscript("Long", "", "", None, chapters)
    assert sum(len(p.split()) for c in chapters for p in c.paragraphs) > 100_000

    async def short(passage):
        yield AudioChunk(np.full(1_200, 0.1, np.float32), RATE, 0, 0, words=(WordTiming("x", 0, 0.05, Span(0, 1)),))

    narration = Narration.create(tmp_path, manuscript, NarrationOptions())
    seen = []

    def watch(progress):
        if progress.sentences_done % 200 == 0:
            seen.append(resident())

    with mock.patch.object(os, "fsync"):  # the disk's own time is not what is measured
        asyncio.run(narration.narrate(short, watch))
    assert narration.progress.done
    assert max(seen) - seen[0] < 16 * 1024 * 1024
