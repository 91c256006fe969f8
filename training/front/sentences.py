"""`python -m training.front.sentences`: phoneme lines of written sentences, and of random words beside them.

ALBERT knows words and their neighbours, so that its student has to see sentences that somebody wrote. Any text files
do: `FOLDER/en/*.txt` and so on, a paragraph a line; each sentence is read in the languages' own phonemes by the
server's front. Sentences follow each other in a line now and then, as they do in a chunk.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from polyvox.engines.kokoro.vocabulary import MAX_PHONEMES
from polyvox.errors import PolyvoxError
from polyvox.text.phoneme_frontend import PhonemeFrontends
from training.wren.corpus import phoneme_ids, random_lines
from training.wren.languages import LANGUAGES

_FOLDERS = {"a": "en", "b": "en", "e": "es", "f": "fr", "h": "hi", "i": "it", "j": "ja", "p": "pt", "z": "zh"}
_SENTENCE = re.compile(r"[^.!?。！？।]+(?:[.!?。！？।]+|$)")
_FEWEST, _MOST = 8, 400
"""Characters of a sentence."""
_JOINED = 0.25
"""The share of lines with a second sentence behind the first."""
_CHUNK = 200


def sentences(folder: Path) -> list[str]:
    """Sentences of all text files of a folder, each once."""
    found: dict[str, None] = {}
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            for match in _SENTENCE.finditer(line):
                sentence = " ".join(match[0].split())
                if _FEWEST <= len(sentence) <= _MOST:
                    found[sentence] = None
    return list(found)


def _joined(texts: Sequence[str], rng: random.Random, *, spaced: bool) -> Iterator[str]:
    waiting = ""
    for text in texts:
        if waiting:
            yield waiting + " " * spaced + text
            waiting = ""
        elif rng.random() < _JOINED:
            waiting = text
        else:
            yield text


_frontends: PhonemeFrontends | None = None


def _read(job: tuple[str, list[str]]) -> list[list[int]]:
    """Phoneme ids of texts of one language; what cannot be read is left out."""
    global _frontends
    letter, texts = job
    _frontends = _frontends or PhonemeFrontends(espeak="espeak-ng")
    frontend, found = _frontends.frontend(LANGUAGES[letter].tag), []
    for text in texts:
        try:
            ids = phoneme_ids(frontend, text)
        except PolyvoxError:
            continue
        if 0 < len(ids) < MAX_PHONEMES:
            found.append(ids)
    return found


def _random(job: tuple[str, int]) -> list[list[int]]:
    return list(random_lines(job[0], job[1], PhonemeFrontends(espeak="espeak-ng")))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write `lines.npz`, which `training.front.train` reads."""
    parser = argparse.ArgumentParser(prog="python -m training.front.sentences", description=__doc__)
    parser.add_argument("texts", type=Path, help="folder of folders en, es, ... of text files")
    parser.add_argument("file", type=Path, help="lines.npz")
    parser.add_argument("--lines", type=int, default=200_000, help="at most, of sentences; shared as voices are")
    parser.add_argument("--random", type=int, default=40_000, help="lines of random words")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    rng, rows, languages = random.Random(7), list[list[int]](), list[int]()  # noqa: S311 - not for cryptography
    with ProcessPoolExecutor(options.processes) as pool:
        for letter, language in LANGUAGES.items():
            texts = sentences(options.texts / _FOLDERS[letter])
            rng.shuffle(texts)
            lines = list(_joined(texts, rng, spaced=language.spaced))[: round(options.lines * language.share)]
            jobs = [(letter, lines[start : start + _CHUNK]) for start in range(0, len(lines), _CHUNK)]
            share = max(options.lines * language.share - len(lines), 0) / 4 + options.random * language.share
            drawn = pool.submit(_random, (letter, round(share)))
            own = [ids for found in pool.map(_read, jobs) for ids in found]
            own += drawn.result()
            rows += own
            languages += [ord(letter)] * len(own)
            print(f"{letter}: {len(texts)} sentences, {len(own)} lines, {sum(map(len, own))} ids", flush=True)
    options.file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        options.file,
        ids=np.concatenate([np.array(row, np.uint8) for row in rows]),
        offsets=np.cumsum([0, *map(len, rows)]).astype(np.int32),
        languages=np.array(languages, np.uint8),
    )


if __name__ == "__main__":
    main()
