"""The report of an evaluation: figures by voice, as a table and as JSON."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from polyvox.evaluate.evaluation import Evaluation, UtteranceResult
from polyvox.evaluate.metric import Metric
from polyvox.evaluate.wer import WerResult

ALL_VOICES = "all voices"
SHOWN_ERRORS = 5
_NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Spread:
    """Figures of several utterances: their mean, the lowest and the highest."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Spread | None":
        """None where nothing was measured."""
        known = [value for value in values if value is not None]
        return cls(float(np.mean(known)), min(known), max(known)) if known else None


@dataclass(frozen=True, slots=True)
class VoiceSummary:
    """One voice, or all together. Words are counted over all utterances, so that long ones weigh more."""

    voice: str
    spoken: int
    failed: int
    seconds: float
    words: WerResult | None
    similarity: Spread | None
    distillmos: Spread | None
    dnsmos_overall: Spread | None
    dnsmos_p808: Spread | None
    dnsmos_signal: Spread | None
    dnsmos_background: Spread | None


def summarize(voice: str, samples: Sequence[UtteranceResult]) -> VoiceSummary:
    """The figures of these utterances together."""
    good = [sample for sample in samples if not sample.error]
    counted = [sample.words for sample in good if sample.words is not None]
    opinions = [sample.dnsmos for sample in good if sample.dnsmos is not None]
    return VoiceSummary(
        voice=voice,
        spoken=len(good),
        failed=len(samples) - len(good),
        seconds=sum(sample.seconds for sample in good),
        words=reduce(add, counted) if counted else None,
        similarity=Spread.of(sample.similarity for sample in good),
        distillmos=Spread.of(sample.distillmos for sample in good),
        dnsmos_overall=Spread.of(opinion.overall for opinion in opinions),
        dnsmos_p808=Spread.of(opinion.p808 for opinion in opinions),
        dnsmos_signal=Spread.of(opinion.signal for opinion in opinions),
        dnsmos_background=Spread.of(opinion.background for opinion in opinions),
    )


def by_voice(evaluation: Evaluation, samples: Sequence[UtteranceResult]) -> list[VoiceSummary]:
    """A summary for each voice, in the evaluation's order, and where there are several, one of all."""
    rows = [summarize(voice, [sample for sample in samples if sample.voice == voice]) for voice in evaluation.voices]
    return [*rows, summarize(ALL_VOICES, samples)] if len(rows) > 1 else rows


@dataclass(frozen=True, slots=True)
class _Column:
    metric: Metric
    title: str
    cell: Callable[[VoiceSummary], str]


def _wer_cell(row: VoiceSummary) -> str:
    return _NOTHING if row.words is None else f"{row.words.rate:.1%} ({row.words.errors}/{row.words.words})"


def _spread_cell(spread: Spread | None) -> str:
    return _NOTHING if spread is None else f"{spread.mean:.2f} ({spread.low:.2f})"


_COLUMNS = (
    _Column(Metric.WER, "word errors", _wer_cell),
    _Column(Metric.SIMILARITY, "similarity", lambda row: _spread_cell(row.similarity)),
    _Column(Metric.DISTILLMOS, "Distill-MOS", lambda row: _spread_cell(row.distillmos)),
    _Column(Metric.DNSMOS, "DNSMOS", lambda row: _spread_cell(row.dnsmos_overall)),
    _Column(Metric.DNSMOS, "P.808", lambda row: _spread_cell(row.dnsmos_p808)),
)


def as_table(evaluation: Evaluation, samples: Sequence[UtteranceResult], metrics: Collection[Metric]) -> RenderableType:
    """The evaluation as a table for a terminal."""
    columns = [column for column in _COLUMNS if column.metric in metrics]
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("voice")
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    for row in by_voice(evaluation, samples):
        table.add_row(Text(row.voice), *(column.cell(row) for column in columns))
    notes = [Text(note, style="dim") for note in _notes(evaluation, samples, metrics)]
    errors = Counter(sample.error for sample in samples if sample.error).most_common(SHOWN_ERRORS)
    return Group(table, *notes, *(Text(f"Failed ({count}): {error}", style="red") for error, count in errors))


def _notes(evaluation: Evaluation, samples: Sequence[UtteranceResult], metrics: Collection[Metric]) -> list[str]:
    total = summarize(ALL_VOICES, samples)
    notes = [f"{total.spoken} of {len(samples)} utterances spoken, {total.seconds:.1f} s of audio."]
    if set(metrics) - {Metric.WER}:
        notes.append("Means over the utterances, the lowest in parentheses.")
    if Metric.SIMILARITY in metrics:
        referred = [voice for voice in evaluation.voices if voice in evaluation.references]
        against = "the other utterances of the voice"
        if referred:
            against = "the reference" if len(referred) == len(evaluation.voices) else f"the reference, else {against}"
        notes.append(f"Similarity to {against}.")
    if Metric.WER in metrics and any(sample.words is None and not sample.error for sample in samples):
        notes.append("Word errors are counted in English texts only, and only where their spoken form is known.")
    unsaid = {sample.text for sample in samples if evaluation.spoken_forms(sample.text) == ()}
    if Metric.WER in metrics and unsaid:
        notes.append(f"{len(unsaid)} texts have figures or signs: write how they are said behind a tab.")
    misread = {sample.text for sample in samples if sample.reading is not None and sample.reading.errors}
    if misread:
        notes.append(f"{len(misread)} texts are read otherwise than their spoken form says; see `reading` in the JSON.")
    return notes


def as_json(
    evaluation: Evaluation, samples: Sequence[UtteranceResult], metrics: Collection[Metric]
) -> dict[str, object]:
    """The whole evaluation: what was asked, the figures by voice, and every utterance."""
    return {
        "metrics": [metric.value for metric in Metric if metric in metrics],
        "language": evaluation.language,
        "similarity_to": {
            voice: "reference" if voice in evaluation.references else "other utterances" for voice in evaluation.voices
        },
        "voices": [asdict(row) | {"wer": _rate(row.words)} for row in by_voice(evaluation, samples)],
        "samples": [asdict(sample) | {"wer": _rate(sample.words)} for sample in samples],
    }


def _rate(words: WerResult | None) -> float | None:
    return None if words is None else words.rate
