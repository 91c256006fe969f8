"""Fitted voices by the models `kokoro` and `wren`: fit clips, have both speak, and write recordings to score.

    python -m benchmarks.wren_fitted fitted.npz "cv 10933823" "cv 120405" --fits fits
    python -m training.wren.score fitted.npz

Prints what each fit took, and each voice's similarity to its clip, by either model. A fit takes minutes; fewer steps
are quicker and less like the clip. Styles are kept in a folder, and none that is there is fitted again. Without clips,
three mixes with random offsets take the place of fits.
Needs PyTorch and `polyvox pull kokoro`, `campplus`, `distillmos` and `moonshine-base`.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.cloning_clips import CLIPS, Clip, fetch_clips
from polyvox.bundles.validate import open_bundle
from polyvox.engines.base import SupportsStyle
from polyvox.engines.kokoro.fitting.fitter import Fitter
from polyvox.engines.kokoro.fitting.style_fit import StyleBasis
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.engines.kokoro.voices import VOICES
from polyvox.evaluate.texts import ENGLISH
from polyvox.installation import load_settings
from polyvox.voices.fitted import KEY, fitted_style, shown_report
from polyvox.voices.mixing import parse_mix
from polyvox.voices.recognition.similarity import SpeakerEncoder, similarity
from training.wren.compare import MODELS, speak, started
from training.wren.held_out import Recording, save_recordings

SENTENCES = ENGLISH[:4]
_MIXES = (
    "af_heart(0.5)+bf_emma(0.3)+af_sky(0.2)",
    "am_michael(0.5)+bm_george(0.5)",
    "am_puck(0.4)+am_fenrir(0.3)+bm_lewis(0.3)",
)
_DEVIATIONS = 0.45


@dataclass(frozen=True, slots=True)
class NamedStyle:
    """A mix and an offset from it, under a name for its recordings."""

    name: str
    mix: str
    offset: npt.NDArray[np.float32]


class KeptFits:
    """Fits styles to clips, one file for each, so that a run that was interrupted goes on; 0 steps: as usual."""

    def __init__(self, fits: Path, clips: Path, models_dir: Path, steps: int) -> None:
        self._fits, self._clips, self._models_dir, self._steps = fits, clips, models_dir, steps
        self._fitter: Fitter | None = None

    def style(self, clip: Clip) -> NamedStyle:
        """The style that is kept for a clip, or a new one."""
        path = self._fits / f"{clip.name.replace(' ', '_')}_{self._steps or 'usual'}.json"
        if not path.exists():
            self._fits.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(self._fit(clip)), encoding="utf-8")
        style = fitted_style(json.loads(path.read_text(encoding="utf-8")))
        assert style is not None
        return NamedStyle(clip.name, style.base, style.offset)

    def _fit(self, clip: Clip) -> dict[str, Any]:
        self._fitter = self._fitter or Fitter(self._models_dir)
        steps, began = self._steps or self._fitter.default_steps, time.process_time()
        style = self._fitter.fit(*clip.read(self._clips), steps=steps, seed=0, on_step=lambda step, alike: None)
        report = {KEY: style.as_report()}
        took = round(time.process_time() - began, 1)
        print(json.dumps({"clip": clip.name, "cpu_seconds": took, **shown_report(report)}), flush=True)
        return report


def perturbed(models_dir: Path) -> list[NamedStyle]:
    """Mixes with random offsets along the principal directions of the built-in voices, in which fits are made."""
    voices = VoiceTable(open_bundle("kokoro", models_dir).folder / "voices", VOICES)
    basis = StyleBasis.of(np.stack([voices.style(voice.id)[:, 0] for voice in VOICES])).matrix.numpy()
    styles = []
    for seed, mix in enumerate(_MIXES, start=1):
        coordinates = np.random.default_rng(seed).standard_normal(len(basis)).astype(np.float32) * _DEVIATIONS
        styles.append(NamedStyle(f"perturbed {seed}", mix, (basis @ coordinates).astype(np.float32)))
    return styles


async def record(styles: Sequence[NamedStyle]) -> list[Recording]:
    """Every sentence in every style, by both models."""
    recordings = []
    async with started(threads=1) as engines:
        for style in styles:
            for text in SENTENCES:
                pair = []
                for engine in engines:
                    assert isinstance(engine, SupportsStyle)
                    voice = engine.voice_from_style(parse_mix(style.mix), style.offset, "en-us")
                    pair.append((await speak(engine, text, style.name, voice)).pcm)
                recordings.append(Recording(style.name, "a", text, *pair))
    return recordings


def similarities(
    clip: Clip, folder: Path, recordings: Sequence[Recording], encoder: SpeakerEncoder
) -> dict[str, float]:
    """How much a fitted voice is like its clip, by either model."""
    target = encoder.embed(*clip.read(folder))
    sides = zip(*((row.teacher, row.student) for row in recordings if row.speaker == clip.name), strict=True)
    return {
        model: round(mean(similarity(encoder.embed(pcm, SAMPLE_RATE), target) for pcm in side), 3)
        for model, side in zip(MODELS, sides, strict=True)
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line of JSON for each clip and write the recordings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="file to write, .npz")
    parser.add_argument("clips", nargs="*", help="names of clips, such as librivox; none: random offsets")
    parser.add_argument("--folder", type=Path, default=Path("clips"), help="where the packages with the clips are put")
    parser.add_argument("--fits", type=Path, default=Path("fits"), help="where the fitted styles are kept")
    parser.add_argument("--steps", type=int, default=0, help="of each fit; 0: as `polyvox voices fit`")
    options = parser.parse_args(arguments)
    models_dir = load_settings().models_dir
    clips = [clip for clip in CLIPS if clip.name in options.clips]
    if unknown := set(options.clips) - {clip.name for clip in clips}:
        parser.error(f"There is no clip {min(unknown)}.")
    if clips:
        fetch_clips(options.folder, clips)
    fits = KeptFits(options.fits, options.folder, models_dir, options.steps)
    styles = [fits.style(clip) for clip in clips] or perturbed(models_dir)
    recordings = asyncio.run(record(styles))
    save_recordings(recordings, options.archive)
    encoder = SpeakerEncoder(open_bundle("campplus", models_dir), 1)
    for clip in clips:
        print(json.dumps({"clip": clip.name, **similarities(clip, options.folder, recordings, encoder)}), flush=True)


if __name__ == "__main__":
    main()
