"""Errors and signals of Unix, as programmers call them: "ENOENT", "SIGKILL"."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_NAMES: Final = {
    "EACCES": "E access",
    "EADDRINUSE": "E addr in use",
    "EADDRNOTAVAIL": "E addr not avail",
    "EAGAIN": "E again",
    "EBADF": "E bad F",
    "EBUSY": "E busy",
    "ECONNABORTED": "E conn aborted",
    "ECONNREFUSED": "E conn refused",
    "ECONNRESET": "E conn reset",
    "EEXIST": "E exist",
    "EHOSTUNREACH": "E host unreach",
    "EINTR": "E inter",
    "EINVAL": "E in val",
    "EISDIR": "E is dir",
    "EMFILE": "E M file",
    "ENETUNREACH": "E net unreach",
    "ENODEV": "E no dev",
    "ENOENT": "E no ent",
    "ENOMEM": "E no mem",
    "ENOSPC": "E no space",
    "ENOTDIR": "E not dir",
    "ENOTEMPTY": "E not empty",
    "ENOTFOUND": "E not found",
    "EPERM": "E perm",
    "EPIPE": "E pipe",
    "EROFS": "E R O F S",
    "ETIMEDOUT": "E timed out",
    "SIGABRT": "sig abort",
    "SIGALRM": "sig alarm",
    "SIGBUS": "sig bus",
    "SIGCHLD": "sig child",
    "SIGCONT": "sig cont",
    "SIGHUP": "sig hup",
    "SIGILL": "sig ill",
    "SIGINT": "sig int",
    "SIGKILL": "sig kill",
    "SIGPIPE": "sig pipe",
    "SIGQUIT": "sig quit",
    "SIGSEGV": "sig seg V",
    "SIGSTOP": "sig stop",
    "SIGTERM": "sig term",
    "SIGUSR1": "sig user one",
    "SQLSTATE": "SQL state",
}
_NAME: Final = re.compile(r"(?<![\w.])(?:E[A-Z]{2,13}|S(?:IG|QL)[A-Z\d]{2,6})(?!\w)")
_CAPITALS: Final = re.compile("E[A-Z]{2}|SIG|SQL")


def read(text: TrackedText) -> TrackedText:
    """Each error by the words that its name is made of."""
    return text.sub(_NAME, lambda match: _NAMES.get(match.group())) if _CAPITALS.search(text.text) else text
