"""Captions of a spoken chapter, from the words that were stored with its audio."""

from dataclasses import replace

from polyvox.books.narration.chapter_audio import ChapterAudio
from polyvox.text.captions import CaptionWord, Cue, caption_words, cues_of
from polyvox.text.captions.rules import is_wide


def chapter_cues(chapter: ChapterAudio) -> tuple[Cue, ...]:
    """The cues of a chapter, timed from its first sample."""
    words: list[CaptionWord] = []
    for passage, timings in chapter.words():
        found = caption_words(timings, passage.text)
        if found and words and not is_wide(found[0].text[:1] or " "):
            found[0] = replace(found[0], spaced=True)
        words += found
    return cues_of(words)


def moved(cue: Cue, seconds: float) -> Cue:
    """A cue at a later time."""
    words = tuple(replace(word, start=word.start + seconds, end=word.end + seconds) for word in cue.words)
    return replace(cue, start=cue.start + seconds, end=cue.end + seconds, words=words)
