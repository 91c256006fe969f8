"""`python -m training.wren.corpus`: write phoneme lines in Kokoro's nine languages for the teacher to speak.

Words are drawn by frequency from the lists of the package wordfreq, in random order: prosody suffers from that, but a
decoder only has to see every phoneme in every context. Needs espeak-ng, `polyvox[ja]` and the packages wordfreq and
msgpack.
"""

import argparse
import gzip
import importlib.util
import json
import random
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from polyvox.engines.kokoro.vocabulary import IDS, MAX_PHONEMES
from polyvox.errors import PolyvoxError
from polyvox.text.phoneme_frontend import PhonemeFrontend, PhonemeFrontends
from polyvox.text.spoken import SpokenWord
from polyvox.types import NormalizationOptions
from training.wren.languages import LANGUAGES, Language

_LONGEST_LINE = 25
_VOCABULARY = 30_000
"""Most frequent words of each language that are drawn from."""
_FREQUENCY_EXPONENT = 0.6
"""Below 1, so that rare words bring rare phonemes."""
_COMMA_PROBABILITY = 0.09


class WordSampler:
    """Draws words of one language by their tempered frequency."""

    def __init__(self, name: str, rng: random.Random) -> None:
        import msgpack  # type: ignore[import-not-found,import-untyped,unused-ignore]

        spec = importlib.util.find_spec("wordfreq")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        file = Path(next(iter(spec.submodule_search_locations))) / "data" / f"{name}.msgpack.gz"
        # Bins of words by falling frequency, a hundredth of a power of ten apart.
        _, *bins = msgpack.unpackb(gzip.decompress(file.read_bytes()), raw=False)
        ranked = [(word, -index / 100) for index, words in enumerate(bins) for word in words if _is_spelled(word)]
        self._words = [word for word, _ in ranked[:_VOCABULARY]]
        self._weights = np.cumsum([10 ** (_FREQUENCY_EXPONENT * power) for _, power in ranked[:_VOCABULARY]]).tolist()
        self._rng = rng

    def sample(self, count: int) -> list[str]:
        """Independent draws."""
        return self._rng.choices(self._words, cum_weights=self._weights, k=count)


def _is_spelled(word: str) -> bool:
    """Whether a word consists of letters and combining marks alone."""
    return all(unicodedata.category(char)[0] in "LM" for char in word)


def random_line(language: Language, words: WordSampler, rng: random.Random) -> str:
    """From 1 to 25 words, some followed by a comma, and mostly a final punctuation mark."""
    count = rng.choice((rng.randint(1, 3), rng.randint(3, 9), rng.randint(5, 13), rng.randint(8, _LONGEST_LINE)))
    drawn = words.sample(count)
    if language.spaced:
        drawn[0] = drawn[0].capitalize()
    marked = [word + language.comma * (rng.random() < _COMMA_PROBABILITY) for word in drawn[:-1]] + drawn[-1:]
    return (" " if language.spaced else "").join(marked) + rng.choice(language.ends)


def phoneme_ids(frontend: PhonemeFrontend, text: str) -> list[int]:
    """Kokoro's input ids of a text, without padding."""
    sentences = frontend.read(text, NormalizationOptions())
    words = [word for sentence in sentences for word in sentence.words if isinstance(word, SpokenWord)]
    phonemes = "".join(word.phonemes + " " * word.space for word in words).rstrip()
    return [IDS[symbol] for symbol in phonemes if symbol in IDS][:MAX_PHONEMES]


def random_lines(letter: str, count: int, frontends: PhonemeFrontends) -> Iterator[list[int]]:
    """Phoneme ids of random lines of one language, reproducible."""
    language = LANGUAGES[letter]
    rng = random.Random(f"wren {letter}")  # noqa: S311 - not for cryptography
    words, frontend = WordSampler(language.words, rng), frontends.frontend(language.tag)
    found = 0
    while found < count:
        try:
            ids = phoneme_ids(frontend, random_line(language, words, rng))
        except PolyvoxError:
            continue
        if ids:
            found += 1
            yield ids


def main(arguments: Sequence[str] | None = None) -> None:
    """Write `lines.npz` and `held_out.json`."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.corpus", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, default=32_000)
    parser.add_argument("--espeak", default="espeak-ng")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    frontends = PhonemeFrontends(espeak=options.espeak)
    held_out = [
        {"language": letter, "text": text, "ids": phoneme_ids(frontends.frontend(language.tag), text)}
        for letter, language in LANGUAGES.items()
        for text in language.held_out
    ]
    (options.folder / "held_out.json").write_text(json.dumps(held_out, ensure_ascii=False), encoding="utf-8")
    ids: list[int] = []
    lengths: list[int] = []
    languages: list[int] = []
    for letter, language in LANGUAGES.items():
        for line in random_lines(letter, round(options.lines * language.share), frontends):
            ids += line
            lengths.append(len(line))
            languages.append(ord(letter))
        print(f"{letter}: {len(lengths)} lines, {len(ids)} ids so far", flush=True)
    np.savez_compressed(
        options.folder / "lines.npz",
        ids=np.array(ids, dtype=np.uint8),
        offsets=np.cumsum([0, *lengths]).astype(np.int32),
        languages=np.array(languages, dtype=np.uint8),
    )


if __name__ == "__main__":
    main()
