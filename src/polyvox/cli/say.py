"""`polyvox say`: speak a text, into a file or out loud."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from polyvox.cli.speech.output import Output
    from polyvox.cli.speech.speech import CommandSpeech
    from polyvox.config import Settings
    from polyvox.settings_loader import Loader
    from polyvox.text.captions import CaptionFormat
    from polyvox.types import Pcm

UNLIMITED_SECONDS = 7 * 24 * 3600.0
"""Deadline and stall limit of a command: neither a whole book nor a paused player is cut off."""
LONG_TEXT_CHARS = 300
"""Texts from this length on get a progress bar."""
MAX_SENT_CHARS = 10_000_000
"""The longest text that is read for a server, which has a limit of its own."""
MAX_SENT_BYTES = 33_554_432
"""The largest recording that is read for a server."""
INTERRUPTED = 130

TextArgument = Annotated[
    list[str] | None, typer.Argument(metavar="TEXT", help="What to say; `-`, or nothing, reads standard input.")
]
OutputPath = Annotated[
    str | None, typer.Option("--output", "-o", help="File to write, or `-` for standard output; without it, play.")
]
File = Annotated[Path | None, typer.Option("--file", "-f", help="Read the text from this file.")]
Voice = Annotated[
    str | None,
    typer.Option("--voice", "-v", help="A voice, a mix: af_heart(2)+bf_emma(1), or the path of a recording: my.wav."),
]
Consent = Annotated[
    str | None,
    typer.Option(metavar="NOTE", help="State that the recording's speaker has agreed; the note says how and when."),
]
Speed = Annotated[float, typer.Option(help="1 is the voice's own pace.")]
Model = Annotated[str | None, typer.Option("--model", "-m", help="Model to speak with.")]
Language = Annotated[
    str | None, typer.Option("--language", "-l", help="How to read the text, if not as the voice does.")
]
Volume = Annotated[float, typer.Option(help="Gain on the samples.")]
Dialogue = Annotated[
    bool, typer.Option("--dialogue", help="The text is a dialogue: lines of `voice: text`, indented where one goes on.")
]
Pause = Annotated[float | None, typer.Option(help="Seconds between the turns of a dialogue.")]
Format = Annotated[str | None, typer.Option("--format", help="Audio format, if not by the file's ending.")]
Captions = Annotated[
    Path | None,
    typer.Option(
        "--captions",
        help="Write captions too: .srt, .vtt or .json by the file's ending; .word.vtt lights up each word.",
    ),
]
Dictionaries = Annotated[
    list[str] | None,
    typer.Option("--dictionary", help="Pronunciation dictionary to use, beside default ones; repeat for more."),
]
Server = Annotated[str | None, typer.Option(help="Speak through the server at this address.")]
Key = Annotated[str | None, typer.Option(envvar="POLYVOX_API_KEY", help="Bearer key of that server.")]
ModelsDir = Annotated[Path | None, typer.Option(help="Folder of installed models.")]


def say(
    context: typer.Context,
    text: TextArgument = None,
    output: OutputPath = None,
    file: File = None,
    voice: Voice = None,
    consent: Consent = None,
    speed: Speed = 1.0,
    model: Model = None,
    language: Language = None,
    volume: Volume = 1.0,
    dialogue: Dialogue = False,
    pause: Pause = None,
    audio_format: Format = None,
    captions: Captions = None,
    dictionary: Dictionaries = None,
    server: Server = None,
    api_key: Key = None,
    models_dir: ModelsDir = None,
) -> None:
    """Speak a text, into a file or out loud."""
    from polyvox.cli.slim_httpx import slim_httpx
    from polyvox.runtime.garbage import lasting_imports

    with lasting_imports(), slim_httpx():
        from polyvox.cli.speech.output import output_for
        from polyvox.cli.speech.recording_file import read_recording
        from polyvox.cli.speech.speech import SayRequest, remote_speech
        from polyvox.cli.speech.turns import check_options, read_turns
        from polyvox.client import server_address

    debug = context.find_root().params["debug"]
    settings = None if server is not None else _local_settings(model, models_dir, debug=debug)
    words = read_text(" ".join(text) if text else None, file, settings.max_input_chars if settings else MAX_SENT_CHARS)
    target = output_for(output, audio_format)
    check_options(dialogue=dialogue, voice=voice, pause=pause)
    recording = read_recording(voice, settings.prompt_max_bytes if settings else MAX_SENT_BYTES)
    if settings is not None and (cloning := _cloning_model(voice, recording, model, language, settings)) is not None:
        model, settings = cloning, _local_settings(cloning, models_dir, debug=debug)
    turns = read_turns(words) if dialogue else ()
    caption_format = None if captions is None else caption_format_of(captions)
    names = tuple(dictionary or ())
    shown = words if output is None and server is None and not dialogue and _is_watched() else None
    request = SayRequest(
        words,
        None if recording is not None else voice,
        model,
        language,
        speed,
        volume,
        turns,
        pause,
        caption_format,
        names,
        words=shown is not None,
        recording=recording,
        consent=consent,
    )
    if settings is not None:
        from polyvox.cli.speech.local_speech import local_speech
        from polyvox.service.telemetry.logs import configure_logging

        configure_logging(settings)
        speech, waiting = local_speech(request, settings), f"Loading {settings.default_model}"
    else:
        if debug:
            logging.basicConfig(level=logging.DEBUG)
        speech, waiting = remote_speech(request, server_address(server or "", "server"), api_key), f"Asking {server}"
    try:
        asyncio.run(_speak(speech, target, len(words), captions, shown, waiting))
    except KeyboardInterrupt:
        print(target.when_interrupted, file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


def _cloning_model(
    voice: str | None, recording: bytes | None, model: str | None, language: str | None, settings: "Settings"
) -> str | None:
    """The model for a voice that is cloned; None where the one asked for, or the default one, will speak."""
    if not voice or (recording is None and model is not None):
        return None
    from polyvox.cli.speech.recorded_voice import model_for_recording, model_for_registered

    if recording is not None:
        return model_for_recording(model, language, settings)
    return model_for_registered(voice, language, settings)


def _local_settings(model: str | None, models_dir: Path | None, *, debug: bool) -> "Settings":
    return settings_loader_for(None).load(
        models_dir=models_dir,
        models=[model] if model else None,
        default_model=model,
        deadline_seconds=UNLIMITED_SECONDS,
        stall_seconds=UNLIMITED_SECONDS,
        log_level="debug" if debug else "error",
        log_format="console",
    )


def settings_loader_for(server: str | None) -> "Loader":
    """A loader of every setting; where a server speaks, only of those that are no engine's and no dialect's."""
    if server is not None:
        from polyvox.settings_loader import Loader

        return Loader(complete=False)
    from polyvox.installation import settings_loader

    return settings_loader()


def read_text(text: str | None, file: Path | None, max_chars: int) -> str:
    """The text from the argument, the file or standard input, read no further than the limit."""
    from polyvox.errors import InvalidRequestError, TextError

    if file is not None and text is not None:
        raise InvalidRequestError("Give a text or a file, not both.", field="file")
    if file is not None:
        with file.open("rb") as source:
            words = _decoded(source.read(4 * max_chars + 4), str(file))
    elif text in (None, "-"):
        if text is None and sys.stdin.isatty():
            raise InvalidRequestError('Give a text: polyvox say "Hello", or -f FILE, or pipe one in.', field="text")
        words = _decoded(sys.stdin.buffer.read(4 * max_chars + 4), "standard input")
    else:
        words = str(text)
    if not words.strip():
        raise TextError("There is nothing to say: the text is empty.", field="text")
    if len(words) > max_chars:
        raise TextError(
            f"The text is longer than {max_chars} characters; cut it, or raise POLYVOX_MAX_INPUT_CHARS.", field="text"
        )
    return words


def caption_format_of(path: Path) -> "CaptionFormat":
    """The format that a file's ending names."""
    from polyvox.errors import InvalidRequestError
    from polyvox.text.captions import CaptionFormat

    ending = "".join(path.suffixes[-2:]).lower()
    if ending.endswith(".word.vtt"):
        return CaptionFormat.WORD_VTT
    try:
        return CaptionFormat(path.suffix.removeprefix(".").lower())
    except ValueError:
        message = f"{path} is no file of captions; let it end in .srt, .vtt, .word.vtt or .json."
        raise InvalidRequestError(message, field="captions") from None


def _is_watched() -> bool:
    """Return whether somebody looks at what is shown."""
    return sys.stderr.isatty()


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _decoded(data: bytes, origin: str) -> str:
    from polyvox.errors import TextError

    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TextError(f"{origin} is not UTF-8 text; save it as UTF-8.", field="text") from error


async def _speak(
    source: "AbstractAsyncContextManager[CommandSpeech]",
    target: "Output",
    chars: int,
    captions: Path | None,
    shown_text: str | None,
    waiting: str,
) -> None:
    """Speak into the output. `shown_text` is shown word by word while it is heard, in place of a progress bar.

    Somebody at a terminal sees `waiting` until the speech begins.
    """
    from polyvox.cli.progress import speaking_progress, waiting_notice
    from polyvox.cli.speech.output import OutputAudio
    from polyvox.cli.speech.spoken_words import SpokenWords
    from polyvox.errors import PolyvoxError

    shown = _is_watched() and chars >= LONG_TEXT_CHARS and shown_text is None
    display = None if shown_text is None else SpokenWords(shown_text, _show)
    async with AsyncExitStack() as stack:
        with waiting_notice(waiting, shown=_is_watched()):
            speech = await stack.enter_async_context(source)
        for warning in speech.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        with speaking_progress(chars, shown=shown) as report:

            async def watched() -> "AsyncIterator[Pcm]":
                seconds = 0.0
                async for segment in speech.segments:
                    if display is not None:
                        display.add(segment.words, len(segment.pcm) / speech.sample_rate)
                    yield segment.pcm
                    seconds += len(segment.pcm) / speech.sample_rate
                    report(seconds, segment.spoken_chars)
                if not seconds:
                    raise PolyvoxError("The speech holds no audio.")

            async with nullcontext() if display is None else display.shown():
                await target.consume(OutputAudio(speech.sample_rate, speech.channels, watched(), speech.tags))
            if captions is not None:
                written = await speech.captions()
                await asyncio.to_thread(captions.write_text, written, encoding="utf-8", newline="\n")
