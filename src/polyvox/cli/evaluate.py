"""`polyvox eval`: word errors, speaker similarity and predicted quality of voices."""

import asyncio
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from polyvox.evaluate.metric import Metric

if TYPE_CHECKING:
    from polyvox.evaluate.evaluation import Evaluation, Speak, UtteranceResult
    from polyvox.evaluate.scorers import Scorers

Item = TypeVar("Item")

Voices = Annotated[list[str] | None, typer.Option("--voice", "-v", help="Voice or mix to evaluate; repeat for more.")]
Texts = Annotated[Path | None, typer.Option(help="File with one text on each line, and behind a tab how it is said.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Say only so many of the texts.")]
Metrics = Annotated[
    list[Metric] | None, typer.Option("--metric", help="What to measure, if not everything; repeat for more.")
]
References = Annotated[
    list[str] | None,
    typer.Option("--reference", help="Recording that all voices should sound like; VOICE=FILE for one of them."),
]
Url = Annotated[str | None, typer.Option(help="Evaluate the server at this address, not this process.")]
Key = Annotated[str | None, typer.Option(envvar="POLYVOX_API_KEY", help="Bearer key of that server.")]
Model = Annotated[str | None, typer.Option("--model", "-m", help="Model to speak with.")]
Language = Annotated[
    str | None, typer.Option("--language", "-l", help="How to read the texts, if not as the voice does.")
]
Timeout = Annotated[float, typer.Option(help="Seconds after which an utterance counts as failed.")]
Keep = Annotated[
    Path | None, typer.Option(file_okay=False, help="Also keep every utterance as NUMBER.wav in this folder.")
]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write everything measured to this file.")]
Plot = Annotated[Path | None, typer.Option(help="Also draw the evaluation into this PNG file.")]
Readings = Annotated[
    str | None,
    typer.Option(metavar="LANG", help="Speak nothing; list the sentences of a language that are misread as text."),
]
ModelsDir = Annotated[Path | None, typer.Option(help="Folder of installed models.")]


def evaluate(
    context: typer.Context,
    voice: Voices = None,
    texts: Texts = None,
    limit: Limit = None,
    metric: Metrics = None,
    reference: References = None,
    url: Url = None,
    api_key: Key = None,
    model: Model = None,
    language: Language = None,
    timeout: Timeout = 120.0,
    keep: Keep = None,
    json_file: JsonFile = None,
    plot: Plot = None,
    models_dir: ModelsDir = None,
    readings: Readings = None,
) -> None:
    """Measure word errors, speaker similarity and predicted quality of voices."""
    if readings is not None:
        _judge_readings(readings, texts, limit, json_file)
        return
    from polyvox.cli.progress import loading_notice
    from polyvox.cli.speech.speakers import SpeakerOptions, local_speaker, remote_speaker
    from polyvox.client import server_address
    from polyvox.evaluate.evaluation import Evaluation
    from polyvox.evaluate.plot import check_plottable
    from polyvox.evaluate.scorers import Scorers
    from polyvox.evaluate.texts import with_spoken_forms
    from polyvox.installation import load_settings
    from polyvox.runtime.executors.ort import share_of_cores
    from polyvox.service.telemetry.logs import configure_logging

    settings = load_settings(
        models_dir=models_dir,
        models=[model] if model else None,
        default_model=model,
        log_level="debug" if context.find_root().params["debug"] else "error",
        log_format="console",
    )
    configure_logging(settings)
    address = None if url is None else server_address(url, "url")
    metrics = frozenset(metric or Metric)
    voices = tuple(dict.fromkeys(voice or [settings.default_voice]))
    said, spoken = with_spoken_forms(_texts(texts)[:limit])
    evaluation = Evaluation(voices, said, language, timeout=timeout, spoken=spoken)
    if plot is not None:
        check_plottable(plot, evaluation)
    with loading_notice("Loading the models that score"):
        scorers = Scorers.of(metrics, settings.models_dir, share_of_cores(1))
    evaluation = _with_references(evaluation, reference or [], scorers)
    options = SpeakerOptions(model, language)
    speaker = local_speaker(settings, options) if address is None else remote_speaker(address, api_key, options)
    waiting = f"Loading {settings.default_model}" if address is None else f"Asking {address}"
    samples = asyncio.run(_run(evaluation, speaker, scorers, keep, waiting))
    _report(evaluation, samples, metrics, json_file, plot, url=url, model=model)


def _judge_readings(language: str, texts: Path | None, limit: int | None, json_file: Path | None) -> None:
    """Print every misread sentence with what is said and what a person would say; one of them is a failure."""
    from dataclasses import asdict

    from rich.console import Console
    from rich.markup import escape

    from polyvox.cli.progress import counted_progress
    from polyvox.errors import InvalidRequestError
    from polyvox.evaluate.readings.judges import LANGUAGES, judge_for, misread
    from polyvox.evaluate.readings.reading_list import built_in, from_file

    if language not in LANGUAGES:
        raise InvalidRequestError(
            f"There is no list for {language!r}; choose {', '.join(LANGUAGES)}.", field="readings"
        )
    cases = (built_in(language) if texts is None else from_file(texts))[:limit]
    with counted_progress("Reading", len(cases)) as advance:
        wrong = list(misread(_counted(cases, advance), judge_for(language)))
    console = Console(soft_wrap=True, highlight=False)
    for case in wrong:
        console.print(f"[bold]{escape(case.reading.written)}[/bold]  [dim]{escape(case.reading.kind)}[/dim]")
        console.print(f"  said    {escape(case.said)}\n  wanted  {escape(case.reading.heard)}")
    console.print(f"{len(wrong)} of {len(cases)} sentences are misread.")
    if json_file is not None:
        document = {"language": language, "sentences": len(cases), "misread": [asdict(case) for case in wrong]}
        json_file.write_text(json.dumps(document, indent=2, ensure_ascii=False), encoding="utf-8")
    if wrong:
        raise typer.Exit(1)


def _counted(items: Iterable[Item], advance: Callable[[], None]) -> Iterator[Item]:
    for item in items:
        yield item
        advance()


def _texts(file: Path | None) -> tuple[str, ...]:
    from polyvox.bench.texts import texts_from
    from polyvox.evaluate.texts import ENGLISH

    return ENGLISH if file is None else texts_from(file)


def _with_references(evaluation: "Evaluation", given: Sequence[str], scorers: "Scorers") -> "Evaluation":
    from dataclasses import replace

    from polyvox.errors import InvalidRequestError
    from polyvox.evaluate.references import embedded, reference_files

    if not given:
        return evaluation
    if scorers.encoder is None:
        raise InvalidRequestError("--reference is for similarity; add --metric similarity.", field="reference")
    return replace(evaluation, references=embedded(reference_files(given, evaluation.voices), scorers.encoder))


async def _run(
    evaluation: "Evaluation",
    speaker: "AbstractAsyncContextManager[Speak]",
    scorers: "Scorers",
    keep: Path | None,
    waiting: str,
) -> "list[UtteranceResult]":
    from polyvox.cli.progress import counted_progress, loading_notice
    from polyvox.cli.speech.speakers import keeping
    from polyvox.evaluate.evaluation import run_evaluation

    async with AsyncExitStack() as stack:
        with loading_notice(waiting):
            speak = await stack.enter_async_context(speaker)
        with counted_progress("Evaluating", evaluation.utterances) as advance:
            return await run_evaluation(
                evaluation,
                speak if keep is None else keeping(speak, keep),
                scorers,
                on_result=lambda _: advance(),
            )


def _report(
    evaluation: "Evaluation",
    samples: "list[UtteranceResult]",
    metrics: Collection[Metric],
    json_file: Path | None,
    plot: Path | None,
    **origin: str | None,
) -> None:
    from rich.console import Console

    from polyvox import __version__
    from polyvox.evaluate.plot import save_plot
    from polyvox.evaluate.report import as_json, as_table

    Console().print(as_table(evaluation, samples, metrics))
    if json_file is not None:
        document = {"polyvox": __version__, **origin, **as_json(evaluation, samples, metrics)}
        json_file.write_text(json.dumps(document, indent=2, ensure_ascii=False), encoding="utf-8")
    if plot is not None:
        save_plot(evaluation, samples, metrics, plot)
    if any(sample.error for sample in samples):
        raise typer.Exit(1)
