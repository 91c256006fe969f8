"""A program of its own that phonemizes with the library espeak-ng: for each line of text a line of phonemes.

Run as `python -I -S worker.py LIBRARY VOICE [TIE]` in the folder that holds `espeak-ng-data`. It imports
nothing of Polyvox: what crashes the library ends this process, not the server.
"""

import ctypes
import sys
from typing import Final

_NO_SOUND: Final = 1  # AUDIO_OUTPUT_RETRIEVAL: no sound device is opened
_RETURN_ERRORS: Final = 0x8000  # espeakINITIALIZE_DONT_EXIT
_UTF8: Final = 1
_IPA: Final = 0x02
_TIE: Final = 0x80


def load(library: str, voice: str) -> ctypes.CDLL:
    """The library with a voice and the data of the current folder, as espeak-ng cuts long paths off."""
    espeak = ctypes.CDLL(library)
    espeak.espeak_TextToPhonemes.restype = ctypes.c_char_p
    espeak.espeak_TextToPhonemes.argtypes = (ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int)
    if espeak.espeak_Initialize(_NO_SOUND, 0, b".", _RETURN_ERRORS) < 0:
        sys.exit("espeak-ng did not start: its data are not in this folder.")
    if espeak.espeak_SetVoiceByName(voice.encode()) != 0:
        sys.exit(f"espeak-ng has no voice {voice!r}.")
    return espeak


def phonemes(espeak: ctypes.CDLL, line: bytes, tie: str) -> bytes:
    """The phonemes of a line, its clauses joined by spaces."""
    mode = _IPA | (_TIE | ord(tie) << 8 if tie else 0)
    rest = ctypes.c_char_p(line)
    clauses: list[bytes] = []
    while rest.value is not None:
        clauses.append(espeak.espeak_TextToPhonemes(ctypes.byref(rest), _UTF8, mode) or b"")
    return b" ".join(b" ".join(clauses).split())


def main() -> None:
    library, voice, tie = [*sys.argv[1:], ""][:3]
    espeak = load(library, voice)
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(phonemes(espeak, line.rstrip(), tie) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
