"""The external program espeak-ng: lines of text in, lines of phonemes out, within limits of time and size."""

import logging
import re
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Timer
from typing import Final

from polyvox.errors import EngineError, UnavailableError

_log = logging.getLogger(__name__)
_TIMEOUT_SECONDS: Final = 10.0
_MAX_ANSWER_BYTES: Final = 1 << 20
# A request and its answer fit into the pipes, so that neither side ever blocks on the other.
_MAX_REQUEST_BYTES: Final = 12_000

_UNSPEAKABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2600-\u27bf\ufe00-\ufe0f\U0001f000-\U0001faff]+")
_LANGUAGE_FLAG: Final = re.compile(r"\([a-z^-]+\)")


class Espeak:
    """espeak-ng with one voice; `tie` is written between the letters of one sound."""

    def __init__(self, program: str, voice: str, language: str, *, tie: str = "") -> None:
        found = shutil.which(program)
        if found is None:
            raise UnavailableError(_missing(language, program), field="language")
        self._language = language
        self._command = [found, "-q", "-b", "1", "--ipa", *([f"--tie={tie}"] if tie else []), "-v", voice]

    def phonemize(self, lines: Sequence[str]) -> list[str]:
        """One line of phonemes for each line of text, in as few calls as their size allows.

        espeak-ng answers a line with a line as long as the line is one clause to it.
        """
        answers: list[str] = []
        waiting: list[str] = []
        for line in lines:
            if sum(len(other.encode()) + 1 for other in (*waiting, line)) > _MAX_REQUEST_BYTES:
                answers += self._phonemize_batch(waiting)
                waiting = []
            waiting.append(line)
        return answers + (self._phonemize_batch(waiting) if waiting else [])

    def _phonemize_batch(self, lines: Sequence[str]) -> list[str]:
        request = "".join(f"{line}\n" for line in lines)
        answer = [_LANGUAGE_FLAG.sub("", line).strip() for line in self._run(request).splitlines()]
        if len(answer) == len(lines):
            return answer
        if len(lines) == 1:
            return [" ".join(answer)]
        _log.debug("espeak-ng answered %d lines of text with %d", len(lines), len(answer))
        return [sound for line in lines for sound in self._phonemize_batch([line])]

    def _run(self, lines: str) -> str:
        try:
            process = subprocess.Popen(  # noqa: S603
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise UnavailableError(_missing(self._language, self._command[0]), field="language") from error
        assert process.stdin is not None
        assert process.stdout is not None
        timer = Timer(_TIMEOUT_SECONDS, process.kill)
        timer.start()
        try:
            with process:
                with suppress(BrokenPipeError):  # it may end without reading; its status tells
                    process.stdin.write(lines.encode())
                    process.stdin.close()
                answer = process.stdout.read(_MAX_ANSWER_BYTES + 1)
                if len(answer) > _MAX_ANSWER_BYTES:
                    process.kill()
        finally:
            timer.cancel()
        if process.returncode != 0:
            raise EngineError(f"espeak-ng failed with status {process.returncode}, or took too long.")
        return answer.decode("utf-8", "replace")


def cleaned(line: str) -> str:
    """A line without characters that espeak-ng cannot handle."""
    return _UNSPEAKABLE.sub("", line).replace("’", "'").strip()


def _missing(language: str, program: str) -> str:
    return (
        f"The language {language!r} needs the program {program!r}, which is not installed; get it with"
        " `apt-get install espeak-ng` or `brew install espeak-ng`, or set POLYVOX_ESPEAK to where it is."
    )
