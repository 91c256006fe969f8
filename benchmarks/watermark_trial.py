"""How surely the watermark is found in short clips after they were changed, and what it costs in quality.

python -m benchmarks.watermark_trial --clips /tmp/clips

Needs `polyvox pull kokoro perth distillmos`. The clips are spoken once by `wren`, and kept in the folder.
"""

import argparse
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from polyvox import Speaker
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, StreamEncoder
from polyvox.audio.resample import resampled
from polyvox.bundles.validate import open_bundle
from polyvox.evaluate.distillmos import DistillMos
from polyvox.evaluate.texts import ENGLISH
from polyvox.installation import load_settings
from polyvox.provenance.perth.watermarker import Perth
from polyvox.types import Pcm

RATE = 24_000
VOICES = ("af_heart", "af_bella", "am_michael", "am_puck", "bf_emma", "bm_george")
SPEEDS = (1.0, 0.9, 1.1)
CROP_SECONDS = 2.0

Recording = tuple[Pcm, int]


def clips(folder: Path, count: int) -> Iterator[Pcm]:
    """Clips of six voices; those that are in the folder are not spoken again."""
    wanted = list(itertools.islice(itertools.product(SPEEDS, ENGLISH, VOICES), count))
    files = [folder / f"{index:03d}.npy" for index in range(len(wanted))]
    if not all(file.exists() for file in files):
        with Speaker(model="wren") as speaker:
            for file, (speed, text, voice) in zip(files, wanted, strict=True):
                if not file.exists():
                    np.save(file, speaker.say(text, voice=voice, speed=speed).pcm)
    return (np.load(file) for file in files)


def marked(perth: Perth, pcm: Pcm) -> Pcm:
    """The clip with its mark, in chunks of a second."""
    stream = perth.stream(RATE, 1)
    chunks = [stream.push(pcm[start : start + RATE]) for start in range(0, len(pcm), RATE)]
    return np.concatenate((*chunks, stream.finish()))


def through(audio_format: AudioFormat, bit_rate: int) -> Callable[[Pcm], Recording]:
    """Encode and decode."""

    def change(pcm: Pcm) -> Recording:
        with StreamEncoder(audio_format, RATE, bit_rate=bit_rate) as encoder:
            data = encoder.encode(pcm) + encoder.finish()
        return decode(data, max_seconds=60, max_samples=10**7)

    return change


def cropped(pcm: Pcm) -> Recording:
    """Two seconds from a place that depends on the clip alone."""
    length = int(CROP_SECONDS * RATE)
    start = np.random.default_rng(len(pcm)).integers(max(1, len(pcm) - length))
    return pcm[start : start + length], RATE


CHANGES: Mapping[str, Callable[[Pcm], Recording]] = {
    "as it was sent": lambda pcm: (pcm, RATE),
    "MP3 64 kbit/s": through(AudioFormat.MP3, 64_000),
    "Opus 24 kbit/s": through(AudioFormat.OPUS, 24_000),
    "resampled to 16 kHz": lambda pcm: (resampled(pcm, RATE, 16_000), 16_000),
    "cropped to 2 s": cropped,
}


def noise_ratio(pcm: Pcm, changed: Pcm) -> float:
    """Speech to mark, in dB."""
    return float(10 * np.log10(np.square(pcm).sum() / np.square(changed - pcm).sum()))


def report_finds(perth: Perth, pairs: Sequence[tuple[Pcm, Pcm]]) -> None:
    """Print how many marked and unmarked clips are found to be marked, and the confidences closest to a mistake."""
    print("| after | marked: found | least | unmarked: found | greatest |\n|---|---|---|---|---|", flush=True)
    for name, change in CHANGES.items():
        yes = [perth.find(*change(after)) for _, after in pairs]
        no = [perth.find(*change(before)) for before, _ in pairs]
        print(
            f"| {name} | {sum(each.found for each in yes)} of {len(yes)} | {min(each.confidence for each in yes):.3f} "
            f"| {sum(each.found for each in no)} of {len(no)} | {max(each.confidence for each in no):.3f} |",
            flush=True,
        )


def report_quality(judge: DistillMos, pairs: Sequence[tuple[Pcm, Pcm]]) -> None:
    """Print the loss in Distill-MOS, with its standard error."""
    scores = np.array([[judge.score(pcm, RATE) for pcm in pair] for pair in pairs])
    loss = scores[:, 0] - scores[:, 1]
    before, after = scores.mean(axis=0)
    error = loss.std(ddof=1) / np.sqrt(len(loss))
    print(f"Distill-MOS of {len(loss)} clips: {before:.3f}, marked {after:.3f}, loss {loss.mean():.3f} ± {error:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=Path, default=Path(tempfile.gettempdir()) / "polyvox-watermark-clips")
    parser.add_argument("--count", type=int, default=200, help="clips, at most 216")
    parser.add_argument("--rated", type=int, default=100, help="clips whose quality is predicted")
    args = parser.parse_args()
    args.clips.mkdir(parents=True, exist_ok=True)
    models = load_settings().models_dir
    perth = Perth.installed(models)
    originals = list(clips(args.clips, args.count))
    began = time.process_time()
    pairs = [(pcm, marked(perth, pcm)) for pcm in originals]
    cpu, seconds = time.process_time() - began, sum(map(len, originals)) / RATE
    ratios = [noise_ratio(*pair) for pair in pairs]
    print(f"{len(pairs)} clips, {seconds:.0f} s; {cpu / seconds:.3f} CPU-seconds a second to mark")
    print(f"speech to mark: {np.mean(ratios):.1f} dB, least {min(ratios):.1f} dB\n", flush=True)
    report_finds(perth, pairs)
    step = max(1, len(pairs) // args.rated)
    report_quality(DistillMos(open_bundle("distillmos", models)), pairs[::step])


if __name__ == "__main__":
    main()
