"""Word errors of the recognisers on recorded speech: the prompts of a telephone exchange, by professional speakers.

    for language in en es fr it ru; do
      apt-get download asterisk-core-sounds-$language asterisk-core-sounds-$language-wav
    done
    for package in asterisk-core-sounds-*.deb; do dpkg-deb -x $package recordings; done
    python -m benchmarks.recorded_recognition recordings --clips 10

Debian's packages hold the recordings (8 kHz, CC-BY-SA 3.0) and their texts. Of each language the first prompts of eight
words or more and 20 s or less are taken, in the order of their names. Accents do not count, since some of the texts
leave them out, nor does it whether a number is written in figures.
"""

import argparse
import gzip
import json
import re
import time
import unicodedata
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.recognition import Score, compared
from polyvox.audio.analysis import mono_16k
from polyvox.audio.decode import decode
from polyvox.installation import load_settings
from polyvox.service.listening.recognisers import MODELS, ListeningModel, Recognisers
from polyvox.text.normalize import normalizer_for
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions, Pcm
from polyvox.voices.recognition.recogniser import RATE, RecognitionTask

LANGUAGES = ("en", "es", "fr", "it", "ru")
_LINE = re.compile(r"([\w/-]+):\s*(\S.*)")
_SHORTEST = 8
_LONGEST = 20.0
_ASIDES = re.compile(r"\(.*?\)|\[.*?\]|<.*?>")


def prompts(folder: Path, language: str) -> Iterator[tuple[str, Pcm]]:
    """The texts and the samples of a language's prompts."""
    text = folder / "usr/share/doc" / f"asterisk-core-sounds-{language}" / f"core-sounds-{language}.txt.gz"
    [sounds] = (folder / "usr/share/asterisk/sounds").glob(f"{language}_*")
    lines = gzip.decompress(text.read_bytes()).decode(errors="replace").splitlines()
    for name, said in sorted(found.groups() for line in lines if (found := _LINE.fullmatch(line.strip()))):
        recording = sounds / f"{name}.wav"
        if len(said.split()) >= _SHORTEST and not _ASIDES.search(said) and recording.is_file():
            pcm = mono_16k(*decode(recording.read_bytes(), max_seconds=120, max_samples=2_000_000))
            if len(pcm) <= _LONGEST * RATE:
                yield said, pcm


def plain(text: str, language: str) -> str:
    """Text with figures as words and without accents: texts and transcripts differ in both, and mean the same."""
    said = normalizer_for(language)(TrackedText.of(text), NormalizationOptions()).text
    return "".join(char for char in unicodedata.normalize("NFKD", said) if not unicodedata.combining(char))


def scored(recognisers: Recognisers, model: ListeningModel, language: str, spoken: list[tuple[str, Pcm]]) -> Score:
    score, recogniser = Score(), recognisers.load(model)
    for text, pcm in spoken:
        began = time.thread_time()
        found = recogniser.recognise(pcm, RecognitionTask(), lambda: None)
        score.cpu_seconds += time.thread_time() - began
        score.audio_seconds += len(pcm) / RATE
        score.detected += found.language == language
        if found.language != language:
            found = recogniser.recognise(pcm, RecognitionTask(language=language), lambda: None)
        score.errors += compared(language, plain(text, language), plain(found.text, language))
        score.heard.append(found.text)
    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--models", nargs="+", default=[model.name for model in MODELS])
    parser.add_argument("--languages", nargs="+", default=list(LANGUAGES), choices=LANGUAGES)
    parser.add_argument("--clips", type=int, default=10)
    options = parser.parse_args()
    recognisers = Recognisers(load_settings())
    for language in options.languages:
        spoken = list(islice(prompts(options.recordings, language), options.clips))
        for model in (model for model in MODELS if model.name in options.models and language in model.languages):
            score = scored(recognisers, model, language, spoken)
            row = score.row(model.name, language) | {"clips": len(spoken), "said": [text for text, _ in spoken]}
            print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
