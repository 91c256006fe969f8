"""The external program espeak-ng: lines of text in, lines of phonemes out, within limits of time and size."""

import logging
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from polyvox.child_process import start_blocking_child
from polyvox.container_image import this_image
from polyvox.errors import EngineError, NotServedError
from polyvox.extras import install_hint
from polyvox.text.phonemes.espeak.lines import answered, batches, encoded
from polyvox.text.phonemes.espeak.watchdog import WATCHDOG

_log = logging.getLogger(__name__)
_TIMEOUT_SECONDS: Final = 10.0
_MAX_ANSWER_BYTES: Final = 1 << 20


class EspeakProgram:
    """espeak-ng with one voice; `tie` is written between the letters of one sound."""

    def __init__(self, program: str, voice: str, language: str, *, tie: str = "") -> None:
        found = shutil.which(program)
        if found is None:
            raise NotServedError(espeak_missing(language, program), field="language")
        self._language = language
        self._command = [found, "-q", "-b", "1", "--ipa", *([f"--tie={tie}"] if tie else []), "-v", voice]

    def phonemize(self, lines: Sequence[str]) -> list[str]:
        """One line of phonemes for each line of text, in as few calls as their size allows.

        espeak-ng answers a line with a line as long as the line is one clause to it.
        """
        return [answer for batch in batches(lines) for answer in self._phonemize_batch(batch)]

    def _phonemize_batch(self, lines: Sequence[str]) -> list[str]:
        answer = [answered(line) for line in self._run(encoded(lines)).splitlines()]
        if len(answer) == len(lines):
            return answer
        if len(lines) == 1:
            return [" ".join(answer)]
        _log.debug("espeak-ng answered %d lines of text with %d", len(lines), len(answer))
        return [sound for line in lines for sound in self._phonemize_batch([line])]

    def _run(self, request: bytes) -> bytes:
        try:
            process = start_blocking_child(self._command)
        except OSError as error:
            raise NotServedError(espeak_missing(self._language, self._command[0]), field="language") from error
        assert process.stdin is not None
        assert process.stdout is not None
        with WATCHDOG.limit(_TIMEOUT_SECONDS, process.kill), process:
            with suppress(BrokenPipeError):  # it may end without reading; its status tells
                process.stdin.write(request)
                process.stdin.close()
            answer = process.stdout.read(_MAX_ANSWER_BYTES + 1)
            if len(answer) > _MAX_ANSWER_BYTES:
                process.kill()
        if process.returncode != 0:
            raise EngineError(f"espeak-ng failed with status {process.returncode}, or took too long.")
        return answer


def found_program(program: str) -> str:
    """The program's whole path, for a process with another folder; as it is where it is not found."""
    found = shutil.which(program)
    return program if found is None else str(Path(found).absolute())


def espeak_missing(language: str, program: str) -> str:
    """The advice to install something for a language."""
    system = "" if this_image() else " or with `apt-get install espeak-ng` or `brew install espeak-ng`;"
    return (
        f"The language {language!r} needs espeak-ng; neither its Python package nor the program {program!r} is here;"
        f" get it with {install_hint('espeak')};{system} or set POLYVOX_ESPEAK to where the program is."
    )
