"""Every operation of every door with a key of every scope: the table of operations decides, at the doors and below."""

import base64
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from fastapi import APIRouter
from starlette.testclient import TestClient, WebSocketDenialResponse

from helpers.agent_engine import AgentEngine
from helpers.cloning import Studio, opened, sample
from helpers.grpc_clients import GrpcStudio, grpc_channel
from helpers.scripted_fits import ScriptedFits, fitting_service
from helpers.wyoming import served_wyoming
from polyvox.api.app import create_app
from polyvox.api.dialects.grpc.handlers import METHODS
from polyvox.api.dialects.grpc.health import HEALTH
from polyvox.api.dialects.grpc.schema import methods_of
from polyvox.api.dialects.mcp.service_backend import ServiceBackend
from polyvox.api.dialects.mcp.tools import TOOLS, SpeechTools, ToolLimits
from polyvox.api.dialects.wyoming.connection import EVENTS
from polyvox.api.door import Door
from polyvox.api.middleware import auth
from polyvox.api.middleware.ephemeral_keys import EphemeralKeys
from polyvox.api.middleware.route_operations import SOCKET, RouteOperations, listed
from polyvox.books.manuscript import Chapter, Manuscript
from polyvox.books.narration.options import NarrationOptions
from polyvox.errors import AuthenticationError, PolyvoxError, ScopeError
from polyvox.service.call_context import CallContext
from polyvox.service.jobs.record import JobOutput
from polyvox.service.jobs.service import JobService, NewJob
from polyvox.service.keys.access import NOBODY
from polyvox.service.keys.client_names import key_client
from polyvox.service.keys.operations import Operation
from polyvox.service.keys.record import Limits, Scope
from polyvox.service.keys.store import KeyStore
from polyvox.service.listening.listening_request import ListeningRequest
from polyvox.service.provenance_checks import ProvenanceChecks
from polyvox.service.speech_request import SpeechRequest
from polyvox.text.dictionary import Dictionary
from polyvox.types import NormalizationOptions, Utterance
from polyvox.voices.recognition.recogniser import RecognitionTask
from polyvox.voices.records import SHARED_OWNER, VoiceDetails
from polyvox.voices.references import InlineVoice

LACKS = re.compile(r"lacks the scope '(\w+)'")


@dataclass(frozen=True)
class Caller:
    """A key with one scope."""

    secret: str
    owner: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}


def callers(folder: Path) -> Mapping[Scope, Caller]:
    """One key of each scope, in the file of a server whose data lies in the folder."""
    store = KeyStore(folder / "keys.sqlite")
    made = {scope: store.create(f"only-{scope}", [scope], Limits()) for scope in Scope}
    return {scope: Caller(new.secret, new.record.owner) for scope, new in made.items()}


def expected(operation: Operation, scope: Scope) -> str:
    """The scope that a refusal must name; empty where the key may do it."""
    return operation.scope if operation.scope not in (None, scope) else ""


def lacking(text: str) -> str:
    found = LACKS.search(text)
    return "" if found is None else found[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("scopes")


@pytest.fixture(scope="module")
def keyed(folder):
    return callers(folder)


def studio_app(folder):
    studio = Studio(folder, AgentEngine(), mcp=True, enable_debug=True, allow_unload=True)
    app = create_app(studio.speech, studio.voices)
    app.openapi_schema = {"openapi": "3.1.0"}  # to write the true one takes seconds
    return app


def operations_of(app) -> RouteOperations:
    (installed,) = (each.kwargs["operations"] for each in app.user_middleware if each.cls is auth.BearerAuth)
    return installed


@pytest.mark.long
def test_every_route_and_socket_refuses_every_scope_but_its_operations(folder, keyed):
    """The bodies are empty: a key that is let in meets whatever is wrong with them, never a missing scope."""
    app = studio_app(folder)
    operations, wrong, keyless, routes = operations_of(app), [], set(), list(listed(app.routes))
    with TestClient(app, base_url="http://localhost") as client:
        for method, path in routes:
            operation, concrete = operations.at(method, path), re.sub(r"\{[^}]*\}", "x", path)
            if called_with(client, method, concrete, {})[0] != 401:
                keyless.add((method, path))
            for scope, caller in keyed.items():
                status, text = called_with(client, method, concrete, caller.headers)
                # A session that nothing is said about speaks.
                needed = Operation.SPEAK if operation is Operation.HOLD_SESSION else operation
                if lacking(text) != expected(needed, scope) or status == 401 or (lacking(text) and status < 400):
                    wrong.append((method, path, operation.name, str(scope), status, text[:200]))
        for scope, caller in keyed.items():
            _, text = called_with(client, SOCKET, "/v1/realtime?intent=transcription", caller.headers)
            assert lacking(text) == expected(Operation.LISTEN, scope), scope
    assert wrong == []
    assert keyless == {row for row in routes if operations.at(*row) is Operation.PROBE}
    done = {operations.at(*row) for row in routes}
    assert set(Operation) - done == {Operation.READ_ALL_USAGE}, "an operation that no route has, or a door is closed"


def called_with(client: TestClient, method: str, path: str, headers: dict[str, str]) -> tuple[int, str]:
    if method != SOCKET:
        answer = client.request(method, path, headers=headers)
        return answer.status_code, answer.text
    try:
        with client.websocket_connect(path, headers=headers):
            return 101, ""
    except WebSocketDenialResponse as denial:
        return denial.status_code, denial.text


def test_an_application_with_a_route_that_does_nothing_known_is_not_made(folder):
    router = APIRouter()
    router.add_api_route("/secret/back", lambda: None, methods=["POST"])
    with pytest.raises(LookupError, match="POST /secret/back"):
        create_app(Studio(folder).speech, doors=[Door("careless", router)])


@dataclass
class Services:
    """What the doors call."""

    studio: Studio
    jobs: JobService
    fits: Any
    ephemeral: EphemeralKeys


def recording() -> InlineVoice:
    return InlineVoice(sample(1))


def book() -> NewJob:
    return NewJob(Manuscript("A book", "", "en", None, (Chapter("One", ("Hello.",)),)), NarrationOptions(), JobOutput())


Below = Callable[[Services, str], Awaitable[object] | object]

BELOW: Mapping[Operation, list[Below]] = {
    Operation.SPEAK: [
        lambda at, owner: spoken(at, owner),
        lambda at, owner: at.studio.speech.count_request(key_client(owner)),
    ],
    Operation.CONVERT: [lambda at, owner: at.studio.voices.source(recording(), "audio", owner)],
    Operation.READ_TEXT: [
        lambda at, owner: side(at).phonemize("Hi.", "en-us", None, lambda *_: None, owner=owner),
        lambda at, owner: side(at).translate_ssml("<speak>Hi.</speak>", None, None, owner=owner),
        lambda at, owner: side(at).normalized("Hi.", NormalizationOptions(), owner=owner),
    ],
    Operation.CHECK_PROVENANCE: [
        lambda at, owner: ProvenanceChecks(at.studio.speech).check(b"no audio", b"no manifest", owner)
    ],
    Operation.LISTEN: [
        lambda at, owner: at.studio.speech.listening.listen(
            ListeningRequest(b"no audio", RecognitionTask()), CallContext(key_client(owner))
        )
    ],
    Operation.MIX_VOICES: [lambda at, owner: side(at).mixed_voice("low+high", None, np.copy, owner=owner)],
    Operation.SUBMIT_JOBS: [lambda at, owner: at.jobs.submit(book(), owner)],
    Operation.CHANGE_JOBS: [
        lambda at, owner: at.jobs.pause("job_x", owner),
        lambda at, owner: at.jobs.resume("job_x", owner),
        lambda at, owner: at.jobs.cancel("job_x", owner),
        lambda at, owner: at.jobs.delete("job_x", owner),
    ],
    Operation.ISSUE_KEYS: [lambda at, owner: at.ephemeral.issue(owner, 60, None)],
    Operation.CHANGE_VOICES: [
        lambda at, owner: at.studio.voices.register(recording(), VoiceDetails.checked(name="Anna"), owner),
        lambda at, owner: at.studio.voices.take(recording(), VoiceDetails.checked(name="Bea"), owner),
        lambda at, owner: at.studio.voices.change("voice_x", VoiceDetails.checked(name="Cleo"), owner),
        lambda at, owner: at.studio.voices.delete("voice_x", owner),
        lambda at, owner: at.studio.voices.clear(owner=owner),
    ],
    Operation.FIT_VOICES: [
        lambda at, owner: at.fits.start(recording(), VoiceDetails.checked(name="Dora", consent=True), owner),
        lambda at, owner: at.fits.cancel("fit_x", owner),
    ],
    Operation.CHANGE_DICTIONARIES: [
        lambda at, owner: at.studio.speech.dictionaries.put(Dictionary("names", ()), owner),
        lambda at, owner: at.studio.speech.dictionaries.remove("names", owner),
        lambda at, owner: at.studio.speech.dictionaries.tried("names", "Hi.", "en", owner),
    ],
    Operation.CHANGE_MODELS: [
        lambda at, owner: at.studio.speech.unload("tone", owner),
        lambda at, owner: at.studio.speech.reload("tone", owner),
    ],
}
"""The functions of the services that do what needs a scope, as a door without any check of its own would call them."""

ONLY_AT_THE_DOOR = {Operation.READ_METRICS, Operation.READ_DEBUG, Operation.READ_ALL_USAGE}
"""Pages about the process itself, which no service makes; their routes ask the same table."""


def side(at: Services):
    return at.studio.speech.side_requests


async def spoken(at: Services, owner: str) -> None:
    request, call = SpeechRequest(Utterance("Hi.", "low")), CallContext(key_client(owner))
    async with await at.studio.speech.open(request, call) as session:
        assert [chunk async for chunk in session]


async def outcome(work: Below, at: Services, owner: str) -> str:
    """What was missing, a scope or a key; empty where nothing was."""
    try:
        done = work(at, owner)
        if isinstance(done, Awaitable):
            await done
    except ScopeError as error:
        return error.scope
    except AuthenticationError:
        return "key"
    except PolyvoxError:
        return ""  # it was let in, and then there was no such job or voice
    return ""


@pytest.mark.long
@pytest.mark.anyio
async def test_the_services_refuse_every_scope_but_their_operations(folder, keyed):
    assert set(BELOW) | ONLY_AT_THE_DOOR == {operation for operation in Operation if operation.scope is not None}
    studio = Studio(folder, AgentEngine())
    async with opened(studio):
        access = studio.speech.accounts.access
        fits = fitting_service(studio.speech.settings, studio.voices, ScriptedFits())
        at = Services(studio, JobService.for_service(studio.speech, studio.voices), fits, EphemeralKeys(access))
        for operation, functions in BELOW.items():
            for scope, caller in keyed.items():
                for place, work in enumerate(functions):
                    found = await outcome(work, at, caller.owner)
                    assert found == expected(operation, scope), (operation, scope, place)
            for work in functions:
                for owner in (NOBODY, "an owner whose key is gone"):
                    assert await outcome(work, at, owner), (operation, owner)
        await fits.close()
        await at.jobs.close()


@pytest.mark.anyio
async def test_pages_about_the_process_ask_the_table_too(folder, keyed, monkeypatch):
    """Also where the middleware forgets to."""
    monkeypatch.setattr(auth, "require", lambda scopes, operation: None)
    pages = {"/metrics": Operation.READ_METRICS, "/debug/system": Operation.READ_DEBUG}
    with TestClient(studio_app(folder), base_url="http://localhost") as client:
        for path, operation in pages.items():
            for scope, caller in keyed.items():
                assert lacking(client.get(path, headers=caller.headers).text) == expected(operation, scope)
        for scope, caller in keyed.items():
            shown = {entry["key"] for entry in client.get("/v1/usage", headers=caller.headers).json()["data"]}
            assert (len(shown) > 1) == (not expected(Operation.READ_ALL_USAGE, scope))


@pytest.mark.anyio
async def test_every_method_of_grpc_refuses_every_scope_but_its_operations(folder, keyed):
    for service, methods in METHODS.items():
        left_out = {"List"} if service == HEALTH else set()  # of the standard service, which is not served
        assert set(methods) == set(methods_of(service)) - left_out
    async with grpc_channel(GrpcStudio(folder, AgentEngine())) as channel:
        for service, methods in METHODS.items():
            for method, operation in methods.items():
                if method == "Watch":  # public, and without an end
                    continue
                for scope, caller in keyed.items():
                    code, text = await grpc_outcome(channel, f"/{service}/{method}", caller)
                    assert lacking(text) == expected(operation, scope), (method, scope, text)
                    assert (code is grpc.StatusCode.PERMISSION_DENIED) == bool(lacking(text))


async def grpc_outcome(channel: grpc.aio.Channel, path: str, caller: Caller) -> tuple[grpc.StatusCode, str]:
    """The status of a call with an empty message, on which also those that answer with a stream send nothing.

    Message and status are one operation of gRPC's client: a refusal that comes early cannot fail the sending.
    """
    try:
        await channel.unary_unary(path)(b"", metadata=(("authorization", f"Bearer {caller.secret}"),))
    except grpc.aio.AioRpcError as error:
        return error.code(), error.details() or ""
    return grpc.StatusCode.OK, ""


@pytest.mark.anyio
async def test_every_tool_of_mcp_refuses_every_scope_but_its_operations(folder, keyed):
    studio = Studio(folder, AgentEngine())
    tools = SpeechTools(ToolLimits.of(studio.speech.settings))
    audio = base64.b64encode(sample(1)).decode()
    arguments = {"speak": {"text": "Hi."}, "voices": {}, "clone": {"name": "Eve", "audio": audio, "consent": True}}
    assert {tool["name"] for tool in tools.definitions} == set(TOOLS) == set(arguments)
    async with opened(studio):
        for scope, caller in keyed.items():
            backend = ServiceBackend(studio.speech, studio.voices, CallContext(key_client(caller.owner), caller.owner))
            for tool, operation in TOOLS.items():
                result = await tools.call(tool, arguments[tool], backend)
                text = " ".join(block["text"] for block in result.content if block["type"] == "text")
                assert lacking(text) == expected(operation, scope), (tool, scope, text)
                assert bool(result.is_error) == bool(lacking(text)), text


@pytest.mark.anyio
async def test_wyoming_which_has_no_keys_can_speak_listen_and_list_and_nothing_else(folder, keyed):
    studio = Studio(folder, AgentEngine())
    access = studio.speech.accounts.access
    may = {operation for operation in Operation if access.allows(operation, SHARED_OWNER)}
    assert may == {operation for operation in Operation if operation.scope in (None, Scope.SPEAK, Scope.LISTEN)}
    assert set(EVENTS.values()) <= may
    async with served_wyoming(service=studio.speech, voices=studio.voices) as served, await served.connect() as client:
        for event, answer in (("describe", "info"), ("ping", "pong"), ("synthesize", "audio-stop")):
            await client.send(event, text="Hi.")
            await client.read_until(answer)
