"""Everything that can go wrong for a caller, one class each, and the one table that gives each its status codes."""

from dataclasses import dataclass
from enum import StrEnum


class PolyvoxError(Exception):
    """Base of all errors that a caller may see. The message is one sentence that names the fix."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.counted = False
        """True once it is in the metrics."""


class InvalidRequestError(PolyvoxError):
    """A field is missing, of the wrong type, or out of range."""


class TextError(InvalidRequestError):
    """The text is empty, too long, or has nothing in it that can be spoken."""


class SilentTextError(TextError):
    """The text holds nothing that can be spoken; to callers it is its parent."""


class MarkupError(InvalidRequestError):
    """Inline phonemes or pauses that cannot be understood.

    `at` is the character of the text at which the mark begins, `mark` the mark as it is written; both are None of an
    error about the text as a whole.
    """

    def __init__(
        self, message: str, *, field: str | None = None, at: int | None = None, mark: str | None = None
    ) -> None:
        super().__init__(message, field=field)
        self.at = at
        self.mark = mark


class UnknownVoiceError(InvalidRequestError):
    """No such voice, or a mix expression that does not parse."""


class UnknownFormatError(InvalidRequestError):
    """An audio format this server does not write."""


class AudioDecodeError(InvalidRequestError):
    """Audio from a caller that is broken, hostile, or over a limit."""


class PromptError(InvalidRequestError):
    """A reference recording that can be read but not used: too short, too long, silent, or too poor."""


class ManuscriptError(InvalidRequestError):
    """A manuscript that cannot be read: broken, hostile, copy-protected, over a limit, or without any words."""


class FetchError(InvalidRequestError):
    """An address that this server will not fetch from, or that did not answer with a file."""


class UnknownModelError(PolyvoxError):
    """No such model on this server."""


class NotFoundError(PolyvoxError):
    """No such resource."""


class ConflictError(PolyvoxError):
    """The name is taken."""


class JobStateError(ConflictError):
    """A job that is in no state for what is asked of it."""


class RangeError(InvalidRequestError):
    """A range of bytes that a file does not have."""


class AuthenticationError(PolyvoxError):
    """A bearer key is required and was absent or wrong."""


class ForbiddenError(PolyvoxError):
    """The server's settings do not allow this."""


class ScopeError(ForbiddenError):
    """The key may not be used for this; `scope` is what it lacks."""

    def __init__(self, message: str, *, field: str | None = None, scope: str = "") -> None:
        super().__init__(message, field=field)
        self.scope = scope


class RequestTooLargeError(PolyvoxError):
    """The body is over its byte limit."""


class JobTooLargeError(PolyvoxError):
    """A job that takes more disk space than one may."""


class RefusalReason(StrEnum):
    """The limit at which a server refuses a request, for logs and metrics."""

    QUEUE = "queue"
    WAIT = "wait"
    SHARE = "share"
    LIMIT = "limit"


class OverloadedError(PolyvoxError):
    """The wait would be too long; try again after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: float, reason: RefusalReason = RefusalReason.QUEUE) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.reason = reason


class RateLimitError(OverloadedError):
    """The key or address has sent too many requests, or has too many streams open.

    `remaining` of `limit` are left of a `resource`, all of which is back after `reset` seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float,
        reason: RefusalReason = RefusalReason.LIMIT,
        resource: str = "requests",
        limit: int = 0,
        remaining: int = 0,
        reset: float = 0.0,
    ) -> None:
        super().__init__(message, retry_after=retry_after, reason=reason)
        self.resource = resource
        self.limit = limit
        self.remaining = remaining
        self.reset = reset


class QuotaError(RateLimitError):
    """The key or address has used up what it may have in a day."""


class JobLimitError(OverloadedError):
    """The caller keeps as many jobs as one may."""


class UnavailableError(PolyvoxError):
    """A model, engine, language or tool that is known but not installed or not ready; the message names the remedy.

    `retry` says whether the same request can succeed later without anybody's doing, None where that is not known;
    `retry_after` in how many seconds to try.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        retry: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, field=field)
        self.retry = retry
        self.retry_after = retry_after


class DiskFullError(UnavailableError):
    """The server's disk has no room for what is asked."""


class DeadlineError(PolyvoxError):
    """The request ran past its deadline."""


class StalledError(PolyvoxError):
    """The client read nothing for so long that its session was dropped."""


class NotServedError(UnavailableError):
    """A model, language or tool that is known and not installed here; the message names the remedy.

    It lasts until somebody acts, so that trying again is of no use.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message, field=field, retry=False)


class BundleError(PolyvoxError):
    """A model directory that is missing, incomplete or altered; the message names the command that fetches it."""


class EngineError(PolyvoxError):
    """The engine failed; the cause is in the server's log under the session id."""


class BrokenAudioError(EngineError):
    """The engine made non-finite samples; what was delivered before them is intact."""


class ApiError(PolyvoxError):
    """A server's error answer, as `polyvox.client` raises it.

    `status` is the HTTP status, `code` the machine-readable cause in the body (the codes of `STATUS`), empty where the
    server sent none; `retry_after` the seconds to wait, where it said so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 502,
        code: str = "",
        field: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, field=field)
        self.status = status
        self.code = code
        self.retry_after = retry_after


class ApiConnectionError(PolyvoxError):
    """No server answers, or the connection broke before the answer was complete; raised by `polyvox.client`."""


@dataclass(frozen=True, slots=True)
class ErrorStatus:
    """The status of one class of error on each protocol."""

    http: int
    type: str
    code: str
    grpc: str


STATUS: dict[type[PolyvoxError], ErrorStatus] = {
    InvalidRequestError: ErrorStatus(400, "invalid_request_error", "invalid_value", "INVALID_ARGUMENT"),
    TextError: ErrorStatus(400, "invalid_request_error", "invalid_text", "INVALID_ARGUMENT"),
    MarkupError: ErrorStatus(400, "invalid_request_error", "invalid_markup", "INVALID_ARGUMENT"),
    UnknownVoiceError: ErrorStatus(400, "invalid_request_error", "voice_not_found", "INVALID_ARGUMENT"),
    UnknownFormatError: ErrorStatus(400, "invalid_request_error", "format_not_supported", "INVALID_ARGUMENT"),
    AudioDecodeError: ErrorStatus(400, "invalid_request_error", "invalid_audio", "INVALID_ARGUMENT"),
    PromptError: ErrorStatus(400, "invalid_request_error", "invalid_prompt", "INVALID_ARGUMENT"),
    ManuscriptError: ErrorStatus(400, "invalid_request_error", "invalid_manuscript", "INVALID_ARGUMENT"),
    FetchError: ErrorStatus(400, "invalid_request_error", "fetch_failed", "INVALID_ARGUMENT"),
    UnknownModelError: ErrorStatus(404, "invalid_request_error", "model_not_found", "NOT_FOUND"),
    NotFoundError: ErrorStatus(404, "invalid_request_error", "not_found", "NOT_FOUND"),
    ConflictError: ErrorStatus(409, "invalid_request_error", "conflict", "ALREADY_EXISTS"),
    JobStateError: ErrorStatus(409, "invalid_request_error", "job_state", "FAILED_PRECONDITION"),
    RangeError: ErrorStatus(416, "invalid_request_error", "range_not_satisfiable", "OUT_OF_RANGE"),
    AuthenticationError: ErrorStatus(401, "authentication_error", "invalid_api_key", "UNAUTHENTICATED"),
    ForbiddenError: ErrorStatus(403, "permission_error", "forbidden", "PERMISSION_DENIED"),
    ScopeError: ErrorStatus(403, "permission_error", "missing_scope", "PERMISSION_DENIED"),
    RequestTooLargeError: ErrorStatus(413, "invalid_request_error", "request_too_large", "RESOURCE_EXHAUSTED"),
    JobTooLargeError: ErrorStatus(413, "invalid_request_error", "job_too_large", "RESOURCE_EXHAUSTED"),
    RateLimitError: ErrorStatus(429, "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"),
    QuotaError: ErrorStatus(429, "rate_limit_error", "quota_exceeded", "RESOURCE_EXHAUSTED"),
    JobLimitError: ErrorStatus(429, "rate_limit_error", "too_many_jobs", "RESOURCE_EXHAUSTED"),
    OverloadedError: ErrorStatus(429, "rate_limit_error", "overloaded", "RESOURCE_EXHAUSTED"),
    UnavailableError: ErrorStatus(503, "server_error", "unavailable", "UNAVAILABLE"),
    NotServedError: ErrorStatus(501, "server_error", "not_served", "FAILED_PRECONDITION"),
    DiskFullError: ErrorStatus(507, "server_error", "disk_full", "UNAVAILABLE"),
    BundleError: ErrorStatus(501, "server_error", "model_not_installed", "FAILED_PRECONDITION"),
    DeadlineError: ErrorStatus(504, "server_error", "deadline_exceeded", "DEADLINE_EXCEEDED"),
    StalledError: ErrorStatus(408, "invalid_request_error", "client_stalled", "DEADLINE_EXCEEDED"),
    EngineError: ErrorStatus(500, "server_error", "engine_failed", "INTERNAL"),
    BrokenAudioError: ErrorStatus(500, "server_error", "broken_audio", "INTERNAL"),
    ApiError: ErrorStatus(502, "server_error", "upstream_failed", "UNAVAILABLE"),
    ApiConnectionError: ErrorStatus(502, "server_error", "upstream_unreachable", "UNAVAILABLE"),
    PolyvoxError: ErrorStatus(500, "server_error", "internal_error", "INTERNAL"),
}


def status_of(error: PolyvoxError) -> ErrorStatus:
    """The table's row for an error, by its nearest listed class."""
    return next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)


def openai_body(error: PolyvoxError) -> dict[str, dict[str, str | None]]:
    """The error in the shape that OpenAI's clients parse."""
    status = status_of(error)
    return {
        "error": {"message": error.message, "type": status.type, "param": error.field, "code": status.code},
    }
