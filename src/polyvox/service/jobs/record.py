"""A job: what was asked for, how far it is, and what came of it."""

import re
import unicodedata
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from polyvox.books.narration.passage_check import NO_CHECKS, CheckCounts
from polyvox.errors import PolyvoxError, status_of


class JobStatus(StrEnum):
    """The status of a job. Those that begin with a dot are not shown to anybody."""

    CREATING = ".creating"
    QUEUED = "queued"
    RUNNING = "running"
    BINDING = "binding"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DELETED = ".deleted"

    @property
    def hidden(self) -> bool:
        return self.value.startswith(".")


_TITLE_CHARS = 80
_TITLE_SIGNS = frozenset("-_'’,()&!")
"""Signs of a title that every file system takes."""

ACTIVE = (JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.BINDING)
"""States in which a runner works on a job, or will. All others are at rest."""
FINAL = (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)
"""States that the webhook is told of."""
RESUMABLE = (JobStatus.PAUSED, JobStatus.FAILED)
CANCELLABLE = (*ACTIVE, *RESUMABLE)


@dataclass(frozen=True, slots=True)
class JobError:
    """The reason why a job does not go on; `sentence` counts from 1 and is the one that could not be spoken."""

    code: str
    message: str
    sentence: int | None = None
    text: str | None = None

    @classmethod
    def of(cls, error: PolyvoxError) -> "JobError":
        return cls(status_of(error).code, error.message)

    def public(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        return shown if self.sentence is None else shown | {"sentence": self.sentence, "text": self.text}


@dataclass(frozen=True, slots=True)
class JobWait:
    """A quota that a job waits for: `limit` of a `resource` a day, back at `until` in seconds since 1970."""

    until: float
    resource: str
    limit: int


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Progress of a job; `chapter` counts from 1."""

    sentences_done: int = 0
    sentences: int = 0
    chapter: int = 1
    chapters: int = 1
    seconds_spoken: float = 0.0
    percent: float = 0.0
    checks: CheckCounts = NO_CHECKS


@dataclass(frozen=True, slots=True)
class JobFile:
    """A finished file; `kind` is `book`, `chapter`, `captions` or `report`, `digest` the SHA-256 of its content.

    `seconds` is the length of its audio, pauses included; None for other files, and for those of earlier versions.
    """

    name: str
    media_type: str
    bytes: int
    kind: str
    chapter: int | None
    digest: str
    seconds: float | None = None

    def saved_name(self, title: str) -> str:
        """The name that a reader keeps the file by: the title in place of `book` and `chapter`."""
        stem = _file_stem(title)
        return re.sub("^(book|chapter)", lambda _: stem, self.name) if stem else self.name


@dataclass(frozen=True, slots=True)
class JobOutput:
    """Files of a job's speech, by the names of formats; `chapters` is the format of single chapters, if any."""

    books: tuple[str, ...] = ("m4b",)
    chapters: str | None = None
    captions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One job as it is stored.

    `keep_seconds` is how long it is kept once it is at rest, `expires` when that will be over. `untold` says that its
    webhook has still to be told of its end. A queued job with a `wait` is set aside until its quota is back. `voices`
    are the names of those that speak it, so that it can be erased with one of them. With `verify` its sentences are
    heard and, where words are wrong, spoken again.
    """

    id: str
    owner: str
    title: str
    created: float
    keep_seconds: float
    output: JobOutput
    webhook: str | None = None
    status: JobStatus = JobStatus.CREATING
    updated: float = 0.0
    expires: float | None = None
    progress: JobProgress = field(default_factory=JobProgress)
    error: JobError | None = None
    files: tuple[JobFile, ...] = ()
    untold: bool = False
    wait: JobWait | None = None
    voices: tuple[str, ...] = ()
    verify: bool = False

    def file(self, name: str) -> JobFile | None:
        return next((file for file in self.files if file.name == name), None)

    def public(self) -> dict[str, Any]:
        """As the owner sees it."""
        progress, error = self.progress, self.error
        return {
            "id": self.id,
            "object": "job",
            "status": self.status,
            "created": int(self.created),
            "updated": int(self.updated),
            "title": self.title,
            "progress": {
                "sentences_done": progress.sentences_done,
                "sentences": progress.sentences,
                "chapter": progress.chapter,
                "chapters": progress.chapters,
                "seconds_spoken": round(progress.seconds_spoken, 3),
                "percent": round(progress.percent, 1),
            },
            "check": asdict(progress.checks) if self.verify else None,
            "waits": self._public_wait() if self.status is JobStatus.QUEUED else None,
            "error": None if error is None else error.public(),
            "files": [self._public_file(file) for file in self.files],
            "expires": None if self.expires is None else int(self.expires),
        }

    def _public_wait(self) -> dict[str, Any]:
        """The reason why a queued job waits: its `turn`, a `retry` of what broke off, or its owner's `quota`."""
        if self.wait is not None:
            return {"for": "quota", "until": int(self.wait.until)}
        return {"for": "turn" if self.error is None else "retry", "until": None}

    def _public_file(self, file: JobFile) -> dict[str, Any]:
        return {
            "name": file.name,
            "media_type": file.media_type,
            "bytes": file.bytes,
            "kind": file.kind,
            "chapter": file.chapter,
            "seconds": file.seconds,
            "saved_name": file.saved_name(self.title),
            "url": f"/v1/jobs/{self.id}/files/{file.name}",
        }


def _file_stem(title: str) -> str:
    """A title as the name of a file: letters, digits and harmless signs; empty where it has no such."""
    written = unicodedata.normalize("NFC", title)
    kept = (sign if unicodedata.category(sign)[0] in "LMN" or sign in _TITLE_SIGNS else " " for sign in written)
    return " ".join("".join(kept).split())[:_TITLE_CHARS].strip(" -_")
