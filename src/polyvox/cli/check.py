"""`polyvox check`: judge an installed model by what it says on this machine."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from polyvox.config import Settings
    from polyvox.evaluate.soundness.criteria import Judgement
    from polyvox.evaluate.soundness.spoken_sentence import TrialVoice
    from polyvox.evaluate.soundness.trial import Trial

NOT_JUDGED = 2
TIMEOUT_SECONDS = 300.0

Model = Annotated[str, typer.Argument(metavar="MODEL", help="Installed model.")]
Voice = Annotated[
    str | None, typer.Option("--voice", "-v", help="A voice of the model's, or the path of a recording to clone.")
]
Consent = Annotated[
    str | None,
    typer.Option(metavar="NOTE", help="State that the recording's speaker has agreed; the note says how and when."),
]
Language = Annotated[str | None, typer.Option("--language", "-l", help="Language of the sentences; else the voice's.")]
Texts = Annotated[Path | None, typer.Option(help="File with one sentence on each line, in place of the built-in ones.")]
Speed = Annotated[bool, typer.Option("--speed/--no-speed", help="Whether the speed counts; not on a busy machine.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ModelsDir = Annotated[Path | None, typer.Option(help="Folder of installed models.")]


def check(
    context: typer.Context,
    model: Model,
    voice: Voice = None,
    consent: Consent = None,
    language: Language = None,
    texts: Texts = None,
    speed: Speed = True,
    as_json: AsJson = False,
    models_dir: ModelsDir = None,
) -> None:
    """Judge a model by what it says here. Exit code 0: it is sound, 1: it is not, 2: it could not be judged."""
    from polyvox.errors import InvalidRequestError, PolyvoxError
    from polyvox.evaluate.soundness.report import EXIT_CODES
    from polyvox.installation import load_settings
    from polyvox.service.telemetry.logs import configure_logging

    debug = context.find_root().params["debug"]
    settings = load_settings(
        models_dir=models_dir,
        models=[model],
        default_model=model,
        log_level="debug" if debug else "error",
        log_format="console",
    )
    configure_logging(settings)
    try:
        judgement = _judged(model, voice, consent, language, texts, settings, speed=speed, as_json=as_json)
    except InvalidRequestError:
        raise
    except PolyvoxError as error:
        if debug:
            raise
        print(f"error: {error.message}", file=sys.stderr)
        raise typer.Exit(NOT_JUDGED) from error
    raise typer.Exit(EXIT_CODES[judgement.sound])


def _judged(
    model: str,
    voice: str | None,
    consent: str | None,
    language: str | None,
    texts: Path | None,
    settings: "Settings",
    *,
    speed: bool,
    as_json: bool,
) -> "Judgement":
    from polyvox.api.requests.languages import language_tag
    from polyvox.bench.texts import texts_from
    from polyvox.cli.progress import loading_notice
    from polyvox.cli.speech.recording_file import read_recording
    from polyvox.engines.catalog import Catalog
    from polyvox.errors import NotServedError
    from polyvox.evaluate.soundness.criteria import judge
    from polyvox.evaluate.soundness.listeners import Listeners
    from polyvox.evaluate.soundness.sentences import sentences_of
    from polyvox.evaluate.soundness.voices import VoiceWishes, trial_voices
    from polyvox.runtime.executors.ort import share_of_cores

    catalog = Catalog.installed()
    outline = catalog.outline(model, settings)
    if reason := catalog.absence(model, settings):
        raise NotServedError(reason, field="model")
    recording = read_recording(voice, settings.prompt_max_bytes)
    tag = None if language is None else language_tag(language, "language")
    wishes = VoiceWishes(None if recording is not None else voice, recording, tag)
    spoken, voices = asyncio.run(trial_voices(model, outline, wishes, settings))
    sentences = sentences_of(spoken) if texts is None else texts_from(texts)
    trial = asyncio.run(_tried(settings, voices, sentences, consent))
    with loading_notice("Listening"):
        judgement = judge(trial, Listeners.of(settings, spoken, share_of_cores(1)), timed=speed)
    _show(model, spoken, trial, judgement, as_json=as_json)
    return judgement


async def _tried(
    settings: "Settings", voices: "tuple[TrialVoice, ...]", sentences: tuple[str, ...], consent: str | None
) -> "Trial":
    from contextlib import AsyncExitStack

    from polyvox.cli.progress import counted_progress, loading_notice
    from polyvox.evaluate.soundness.speaker import ServiceSpeaker
    from polyvox.evaluate.soundness.trial import run_trial, steps_of
    from polyvox.service.keys.access import OperatorAccess
    from polyvox.service.local_service import running_service
    from polyvox.service.voices.consent import calling
    from polyvox.service.voices.voices import VoiceService

    async with AsyncExitStack() as stack:
        with loading_notice(f"Loading {settings.default_model}"):
            service = await stack.enter_async_context(running_service(settings))
        beside = VoiceService.for_service(service, OperatorAccess())
        stack.push_async_callback(beside.close)
        speak = ServiceSpeaker(service, beside, TIMEOUT_SECONDS)
        with calling("cli", consent), counted_progress("Speaking", steps_of(voices, sentences)) as advance:
            return await run_trial(speak, voices, sentences, advance)


def _show(model: str, language: str, trial: "Trial", judgement: "Judgement", *, as_json: bool) -> None:
    from rich.console import Console

    from polyvox import __version__
    from polyvox.evaluate.soundness import report

    if as_json:
        document = {"polyvox": __version__, "model": model, "language": language, **report.as_json(judgement, trial)}
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        Console(soft_wrap=True).print(report.as_table(model, judgement))
