"""Run as a program in a fresh process: start-up seconds of the normaliser and the phonemiser, as JSON."""

import json
import sys
import time


def startup(language: str, espeak: str, text: str) -> dict[str, float]:
    """Seconds to import and build the normaliser and use it once, then the same for the phonemiser."""
    began = time.perf_counter()
    from polyvox.text.markup import markup
    from polyvox.text.normalize import normalizer_for
    from polyvox.types import NormalizationOptions

    marked = markup.parse(text)
    normalized = normalizer_for(language)(marked.text, NormalizationOptions())
    normalizer_ready = time.perf_counter()
    from polyvox.text.phonemes import phonemizer_for

    phonemizer_for(language, espeak=espeak)(normalized, marked.inserts)
    phonemizer_ready = time.perf_counter()
    return {"normalizer": normalizer_ready - began, "phonemizer": phonemizer_ready - normalizer_ready}


if __name__ == "__main__":
    print(json.dumps(startup(*sys.argv[1:4])))
