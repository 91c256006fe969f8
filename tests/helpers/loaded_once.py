"""Real networks and dictionaries that a run of the tests loads once, not in each of its processes.

Workers and servers are forked from a process that has loaded them. It may have no thread but one: a network that is
to outlive a fork runs on one.
"""

import os
from functools import cache
from pathlib import Path
from typing import Final

from polyvox.bundles.validate import open_bundle
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.wren.loading import load_wren
from polyvox.errors import BundleError
from polyvox.installation import load_settings
from polyvox.service.voices.transcriber import ASR_BUNDLE
from polyvox.text.detect import load_detector
from polyvox.text.normalize import load_normalizers
from polyvox.text.phoneme_frontend import PhonemeFrontends
from polyvox.types import NormalizationOptions
from polyvox.voices.recognition.recogniser import Recogniser
from polyvox.voices.recognition.transcribe import Moonshine

RECOGNISERS: Final[dict[tuple[str, Path], Recogniser]] = {}
"""Those that a service has loaded, or the tests, by bundle and folder of models."""

kept_wren = cache(load_wren)


@cache
def _kokoro(path: Path, threads: int) -> KokoroModel:
    return KokoroModel(path, threads)


def kept_kokoro(path: Path, threads: int) -> KokoroModel:
    """Kokoro's network, on no more threads than its process has cores for itself."""
    return _kokoro(path, min(threads, int(os.environ.get("OMP_NUM_THREADS", threads))))


def kept_moonshine(models_dir: Path) -> Moonshine:
    """The recogniser of English in a folder of models."""
    place = ASR_BUNDLE, models_dir
    if place not in RECOGNISERS:
        RECOGNISERS[place] = Moonshine(open_bundle(*place))
    kept = RECOGNISERS[place]
    assert isinstance(kept, Moonshine)
    return kept


def load_text() -> None:
    """Load the detector, the normalisers, and the dictionaries of all languages that need no process of espeak-ng's."""
    load_detector()
    load_normalizers()
    readers = PhonemeFrontends(espeak="")
    for language, word in (("en-us", "Hello."), ("en-gb", "Hello."), ("zh", "你好。"), ("ja", "今日。")):
        assert [*readers.frontend(language).read(word, NormalizationOptions())]


def load_small_decoder() -> None:
    """Load Wren, where Kokoro is installed."""
    model = load_settings().models_dir / "kokoro" / "model.onnx"
    if model.exists():
        kept_wren(model, 1)


def load_all() -> None:
    """Load what the tests of the real models need, as far as it is installed: 9 s of CPU time."""
    load_text()
    load_small_decoder()
    models_dir = load_settings().models_dir
    try:
        kept_kokoro(open_bundle("kokoro", models_dir).file("model.onnx"), 1)
        kept_moonshine(models_dir)
    except BundleError:
        return  # the first test that needs one has it pulled
