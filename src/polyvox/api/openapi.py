"""Errors and keys in the OpenAPI document.

FastAPI describes a 422 of its own wherever there is something to check, and knows nothing of the middleware: the errors
are those that this server answers with, in the wording of each door.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from polyvox.api.paths import PathTable
from polyvox.api.refusals import Refusal, Refusals
from polyvox.errors import (
    AuthenticationError,
    DeadlineError,
    EngineError,
    ForbiddenError,
    InvalidRequestError,
    OverloadedError,
    PolyvoxError,
    RequestTooLargeError,
    StalledError,
    UnavailableError,
    UnknownModelError,
)

_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
_FASTAPI_STATUS = str(HTTPStatus.UNPROCESSABLE_ENTITY.value)
_FASTAPI_SCHEMAS = ("HTTPValidationError", "ValidationError")
_KEY = "HTTPBearer"

_ANY_CALL = (ForbiddenError("This host name or this page may not call the server, or the key lacks the scope for it."),)
_WITH_A_KEY = (AuthenticationError("A key is needed, and was absent or wrong."),)
_WITH_INPUT = (
    InvalidRequestError("Something in the request is not acceptable; the message says what."),
    InvalidRequestError("A field is missing, of the wrong type, or out of range.", field="field"),
)
_BUSY = OverloadedError(
    "The server is busy, or the key is at a limit; the header Retry-After says when to try again.", retry_after=1.0
)
_WITH_A_BODY = (
    RequestTooLargeError("The body is over its limit."),
    StalledError("The body arrives too slowly."),
    _BUSY,
)
_OF_A_MODEL = (
    UnknownModelError("No such model."),
    UnavailableError("The model is not installed or not ready; the message names the remedy."),
)
_SPOKEN = (
    *_OF_A_MODEL,
    _BUSY,
    EngineError("The model failed; the cause is in the server's log under the session's id."),
    DeadlineError("Nothing was spoken before the deadline."),
)


def describe_access(document: dict[str, Any], refusals: Refusals, public: Iterable[str]) -> None:
    """Ask for a key except on `public` paths; replace FastAPI's own error by this server's and the middleware's.

    What a route has described itself stays as it is.
    """
    is_public = PathTable([(path, True) for path in public], default=False)
    schemas: dict[str, Any] = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method in _METHODS:
                if not is_public[path]:
                    operation["security"] = [{_KEY: []}]
                errors = [*_call_errors(operation, is_public[path]), *_model_errors(method, operation, schemas)]
                _describe(operation["responses"], errors, path, refusals)
    for name in _FASTAPI_SCHEMAS:
        schemas.pop(name, None)
    scheme = {"type": "http", "description": "A key, where the server asks for one.", "scheme": "bearer"}
    document["components"]["securitySchemes"] = {_KEY: scheme}


def _call_errors(operation: Mapping[str, Any], is_public: bool) -> Iterable[PolyvoxError]:
    yield from _ANY_CALL
    if not is_public:
        yield from _WITH_A_KEY
    if "requestBody" in operation or any(each["in"] != "path" for each in operation.get("parameters", ())):
        yield from _WITH_INPUT
    if "requestBody" in operation:
        yield from _WITH_A_BODY


def _model_errors(method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterable[PolyvoxError]:
    fields = {each["name"] for each in operation.get("parameters", ())}
    for media in operation.get("requestBody", {}).get("content", {}).values():
        schema = schemas.get(media["schema"].get("$ref", "").rpartition("/")[2], media["schema"])
        fields |= schema.get("properties", {}).keys()
    if "model" in fields:
        yield from _OF_A_MODEL
    answer = operation["responses"].get("200", {}).get("content", {})
    if method == "post" and any(media_type.startswith("audio/") for media_type in answer):
        yield from _SPOKEN


def _describe(responses: dict[str, Any], errors: Iterable[PolyvoxError], path: str, refusals: Refusals) -> None:
    if _is_fastapi_own(responses.get(_FASTAPI_STATUS, {})):
        del responses[_FASTAPI_STATUS]
    for error in errors:
        status, body = refusals.worded(Refusal.of(error), path)
        content = {"application/json": {"schema": _schema(body)}}
        responses.setdefault(str(status), {"description": error.message, "content": content})


def _is_fastapi_own(response: Mapping[str, Any]) -> bool:
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    return bool(schema.get("$ref", "").endswith(_FASTAPI_SCHEMAS[0]))


def _schema(value: object) -> dict[str, Any]:
    """The schema of a body, from one such body."""
    if isinstance(value, dict):
        return {"type": "object", "required": list(value), "properties": {name: _schema(value[name]) for name in value}}
    if isinstance(value, list):
        return {"type": "array", "items": _schema(value[0])}
    if value is None:
        return {"type": ["string", "null"]}
    return {"type": "integer" if isinstance(value, int) else "string"}
