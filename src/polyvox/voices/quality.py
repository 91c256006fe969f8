"""What a reference recording is worth: level, noise, clipping and how much of it is speech."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QualityReport:
    """What was found in a recording; every field is plain, so that `dataclasses.asdict` of it is JSON.

    `duration` and `speech_seconds` are in seconds, `level_dbfs` is the level of the speech alone, `score` runs from 0
    (of no use) to 1, and `warnings` say in sentences what lowers it.
    """

    duration: float
    speech_seconds: float
    speech_ratio: float
    snr_db: float
    clipped_ratio: float
    level_dbfs: float
    score: float
    warnings: tuple[str, ...]
