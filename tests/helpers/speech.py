"""Sentences for the tests, and forced alignment of their words with audio."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pocketsphinx
import soxr

from polyvox.evaluate.wer import words_of
from polyvox.types import Pcm

# Lists 1 and 2 and the first sentence of list 3 of the IEEE Recommended Practice for Speech Quality Measurements,
# known as the Harvard sentences: 168 words.
HARVARD_SENTENCES: Sequence[str] = (
    "The birch canoe slid on the smooth planks.",
    "Glue the sheet to the dark blue background.",
    "It's easy to tell the depth of a well.",
    "These days a chicken leg is a rare dish.",
    "Rice is often served in round bowls.",
    "The juice of lemons makes fine punch.",
    "The box was thrown beside the parked truck.",
    "The hogs were fed chopped corn and garbage.",
    "Four hours of steady work faced us.",
    "A large size in stockings is hard to sell.",
    "The boy was there when the sun rose.",
    "A rod is used to catch pink salmon.",
    "The source of the huge river is the clear spring.",
    "Kick the ball straight and follow through.",
    "Help the woman get back to her feet.",
    "A pot of tea helps to pass the evening.",
    "Smoky fires lack flame and heat.",
    "The soft cushion broke the man's fall.",
    "The salt breeze came across from the sea.",
    "The girl at the booth sold fifty bonds.",
    "The small pup gnawed a hole in the sock.",
)

_ALIGNER_RATE = 16_000
_FRAMES_PER_SECOND = 100


class AlignedWord(NamedTuple):
    """A word as the dictionary spells it, and when it is heard, in seconds."""

    word: str
    start: float
    end: float


def align_words(pcm: Pcm, rate: int, text: str) -> list[AlignedWord]:
    """Where each word of an English text stands in a recording of it, by forced alignment to 10 ms frames.

    Every word must be in the aligner's dictionary. Pauses are left out.
    """
    decoder = pocketsphinx.Decoder(lm=None, loglevel="FATAL", samprate=_ALIGNER_RATE)
    words = words_of(text)
    unknown = [word for word in words if decoder.lookup_word(word) is None]
    if unknown:
        raise ValueError(f"not in the aligner's dictionary: {unknown}")
    sound = soxr.resample(pcm, rate, _ALIGNER_RATE)
    samples = (np.clip(sound, -1.0, 1.0) * 32767).astype("<i2").tobytes()
    decoder.set_align_text(" ".join(words))
    decoder.start_utt()
    decoder.process_raw(samples, full_utt=True)
    decoder.end_utt()
    aligned = [
        AlignedWord(
            segment.word.partition("(")[0],
            segment.start_frame / _FRAMES_PER_SECOND,
            (segment.end_frame + 1) / _FRAMES_PER_SECOND,
        )
        for segment in decoder.seg() or ()
        if not segment.word.startswith(("<", "["))
    ]
    if [item.word for item in aligned] != words:
        raise ValueError("the recording does not say the text")
    return aligned
