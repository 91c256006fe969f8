"""The OpenAPI document describes the errors that the server answers with, and no others."""

from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from typing import Any

import httpx
import pytest

from helpers.fakes import tone_service
from helpers.tables import each_row
from polyvox.api.app import create_app
from polyvox.api.doors import DOORS
from polyvox.api.refusals import Refusal, Refusals
from polyvox.errors import STATUS, PolyvoxError

pytestmark = pytest.mark.anyio

DOCUMENT: dict[str, Any] = create_app(tone_service()).openapi()
OPERATIONS = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]
REFUSALS = Refusals(row for door in DOORS for row in door.wordings.items())
HOST = "http://127.0.0.1"


def responses(path: str, method: str) -> dict[str, Any]:
    return DOCUMENT["paths"][path][method]["responses"]


every = partial(each_row, ("path", "method"))


def queries(path: str, method: str) -> list[str]:
    parameters = DOCUMENT["paths"][path][method].get("parameters", ())
    return [each["name"] for each in parameters if each["in"] == "query"]


WITH_A_BODY = [(path, method) for path, method in OPERATIONS if "requestBody" in DOCUMENT["paths"][path][method]]
WITH_A_QUERY = [(path, method) for path, method in OPERATIONS if queries(path, method)]


def limited(schema: dict[str, Any]) -> bool:
    """Whether some value of a parameter does not fit its schema."""
    rules = {"maxLength", "minLength", "pattern", "maximum", "minimum", "enum"}
    return any(rules & set(each) or each.get("type") != "string" for each in (schema, *schema.get("anyOf", ())))


def test_every_operation_with_a_limited_parameter_documents_that_it_is_refused() -> None:
    undocumented = [
        (method, path, parameter["name"])
        for path, method in OPERATIONS
        for parameter in DOCUMENT["paths"][path][method].get("parameters", ())
        if limited(parameter["schema"]) and not {"400", "422"} & set(responses(path, method))
    ]
    assert undocumented == []


async def answered(path: str, method: str, *, base: str = HOST, key: str = "", **sent: Any) -> httpx.Response:
    service = tone_service(api_keys=[key]) if key else tone_service()
    app = create_app(service, allowed_hosts=[])
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=base) as client:
        return await client.request(method, path.replace("{", "").replace("}", ""), **sent)


def required_names(schema: dict[str, Any], value: object) -> bool:
    """Whether a value has at least what the schema of an object requires, at every depth."""
    schema = DOCUMENT["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
    if "properties" not in schema:
        return True
    assert isinstance(value, dict)
    return all(name in value for name in schema.get("required", ())) and all(
        required_names(each, value[name]) for name, each in schema["properties"].items() if name in value
    )


def check(response: httpx.Response, path: str, method: str, status: int) -> None:
    assert response.status_code == status
    described = responses(path, method)[str(status)]
    schema = described.get("content", {}).get("application/json", {}).get("schema", {})
    assert required_names(schema, response.json())


def worded_status(path: str, status: int) -> int:
    return REFUSALS.worded(Refusal(status, "Why.", "type", "code"), path)[0]


def possible_statuses(path: str) -> Iterator[int]:
    """The statuses that the door of a path may refuse with."""
    for error in STATUS:
        if error is not PolyvoxError:
            row = STATUS[error]
            for field in (None, "field"):
                yield REFUSALS.worded(Refusal(row.http, "Why.", row.type, row.code, field), path)[0]


@every(OPERATIONS)
def test_only_statuses_of_the_doors_own_are_described(path: str, method: str) -> None:
    described = {int(status) for status in responses(path, method) if int(status) >= HTTPStatus.BAD_REQUEST}
    assert described <= set(possible_statuses(path))


def test_fastapis_own_error_is_nowhere() -> None:
    assert not {"HTTPValidationError", "ValidationError"} & DOCUMENT["components"]["schemas"].keys()
    assert {path for path, method in OPERATIONS if "422" in responses(path, method)} == {
        path
        for path in DOCUMENT["paths"]
        if path.startswith(
            ("/inference_", "/v1/text-to-speech/", "/v1/text-to-dialogue", "/v1/text-to-voice", "/v2/voices")
        )
        or path in {"/elevenlabs/v1/voices/add", "/v1/speech-to-text"}
    }, "only CosyVoice's and ElevenLabs' clients expect a 422"


@pytest.mark.long
@every(OPERATIONS)
async def test_a_foreign_host_is_refused_as_described(path: str, method: str) -> None:
    check(await answered(path, method, base="http://evil.example"), path, method, worded_status(path, 403))


@pytest.mark.long
@every(OPERATIONS)
async def test_a_missing_key_is_refused_as_described(path: str, method: str) -> None:
    response = await answered(path, method, key="a-long-enough-key")
    asks = DOCUMENT["paths"][path][method].get("security", [])
    if "401" in responses(path, method):
        check(response, path, method, 401)
        assert asks == [{"HTTPBearer": []}]
    else:
        assert not asks
        assert response.status_code != HTTPStatus.UNAUTHORIZED


@pytest.mark.long
@every(WITH_A_BODY)
async def test_a_body_that_cannot_be_read_is_refused_as_described(path: str, method: str) -> None:
    broken = await answered(path, method, content=b"{", headers={"content-type": "application/json"})
    check(broken, path, method, 400)
    large = await answered(path, method, content=b"", headers={"content-length": str(1 << 40)})
    check(large, path, method, 413)


@every(WITH_A_QUERY)
async def test_a_parameter_that_is_wrong_is_refused_as_described(path: str, method: str) -> None:
    wrong = dict.fromkeys(queries(path, method), "\u2066")
    refused = await answered(path, method, params=wrong)
    status = 422 if refused.status_code == 422 and "422" in responses(path, method) else 400
    check(refused, path, method, status)


def test_every_operation_that_registers_a_voice_describes_why_it_may_not() -> None:
    registering = [
        (path, "post")
        for path in DOCUMENT["paths"]
        if path.endswith(
            ("/voices", "/voices/clone", "/voices/add", "/voices/register", "/text-to-voice", "-from-preview")
        )
        and "post" in DOCUMENT["paths"][path]
    ]
    assert len(registering) >= 7
    undocumented = [
        (path, status)
        for path, method in registering
        for status in (409, 501, 503)
        if str(worded_status(path, status)) not in responses(path, method)
    ]
    assert undocumented == []
