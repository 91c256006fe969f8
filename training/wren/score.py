"""`python -m training.wren.score`: score held-out sentences of teacher and student.

Per speaker: Distill-MOS of both, word error rate of both where the language is English, and CAM++ similarity between
them. Needs `polyvox pull distillmos`, `moonshine-base` and `campplus`.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from polyvox.evaluate.metric import Metric
from polyvox.evaluate.scorers import Scorers
from polyvox.evaluate.wer import WerResult
from polyvox.installation import load_settings
from polyvox.models.kokoro.wren_source import SAMPLE_RATE
from polyvox.voices.recognition.similarity import similarity
from training.wren.held_out import Recording, read_archive

_ENGLISH = "ab"


@dataclass(frozen=True, slots=True)
class Score:
    """Mean scores of one speaker, or of all of them with equal weight; word error rates are None without English."""

    speaker: str
    sentences: int
    teacher_mos: float
    student_mos: float
    similarity: float
    teacher_wer: float | None
    student_wer: float | None


def score_speaker(scorers: Scorers, speaker: str, recordings: Sequence[Recording]) -> Score:
    """Score one speaker's recordings."""
    pairs = []
    for recording in recordings:
        forms = (recording.text,) if recording.language in _ENGLISH else None
        pairs.append([scorers.score(pcm, SAMPLE_RATE, forms) for pcm in (recording.teacher, recording.student)])
    mos = [[score.distillmos for score in pair if score.distillmos is not None] for pair in pairs]
    embeddings = [[score.embedding for score in pair if score.embedding is not None] for pair in pairs]
    teacher_mos, student_mos = (round(float(mean), 3) for mean in np.mean(mos, axis=0))
    teacher_wer, student_wer = (_error_rate([pair[side].words for pair in pairs]) for side in (0, 1))
    alike = round(float(np.mean([similarity(*pair) for pair in embeddings])), 3)
    return Score(speaker, len(pairs), teacher_mos, student_mos, alike, teacher_wer, student_wer)


def mean_score(scores: Sequence[Score]) -> Score:
    """Every speaker with the same weight."""

    def mean(name: str) -> float | None:
        values = [getattr(score, name) for score in scores if getattr(score, name) is not None]
        return round(float(np.mean(values)), 4) if values else None

    means = {name: mean(name) for name in Score.__slots__ if name not in ("speaker", "sentences")}
    return Score("all", sum(score.sentences for score in scores), **means)  # type: ignore[arg-type]


def _error_rate(words: Sequence[WerResult | None]) -> float | None:
    known = [result for result in words if result is not None]
    return round(sum(known[1:], known[0]).rate, 4) if known else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line of JSON per speaker, and one of the mean."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.score", description=__doc__)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    metrics = (Metric.DISTILLMOS, Metric.WER, Metric.SIMILARITY)
    scorers = Scorers.of(metrics, load_settings().models_dir, options.threads)
    scores = []
    for speaker, recordings in groupby(read_archive(options.archive), key=lambda recording: recording.speaker):
        scores.append(score_speaker(scorers, speaker, list(recordings)))
        print(json.dumps(asdict(scores[-1])), flush=True)
    print(json.dumps(asdict(mean_score(scores))), flush=True)


if __name__ == "__main__":
    main()
