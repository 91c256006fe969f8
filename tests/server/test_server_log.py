"""Keys and texts do not reach any log, however much is logged."""

import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import structlog
from fastapi import APIRouter, WebSocket
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from helpers.fakes import tone_service
from helpers.serving import served_by_granian, served_by_uvicorn
from polyvox.api.door import Door
from polyvox.api.doors import DOORS
from polyvox.api.middleware.key_sources import KeySources
from polyvox.service.keys.operations import Operation
from polyvox.service.telemetry.logs import configure_logging

KEY, WRONG = "sesame-5aa1", "sesame-wrong"
TEXT = "Nobody-may-read-this"

router = APIRouter(prefix="/logged")


@router.websocket("/socket")
async def echo(websocket: WebSocket) -> None:
    await websocket.accept(subprotocol=next(iter(websocket.scope["subprotocols"]), None))
    await websocket.send_text(await websocket.receive_text())
    await websocket.close()


@router.get("/number")
async def number(of: int) -> dict[str, int]:
    return {"of": of}


SOURCES = KeySources(headers=("x-api-key",), queries=("api_key",), protocols=("page-key.",))
DOOR = Door(
    "logged",
    router,
    keys={"/logged/*": SOURCES},
    operations={"GET /logged/*": Operation.LIST, "WS /logged/*": Operation.SPEAK},
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder for all logs; what is configured is undone."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield tmp_path
    for handler in [handler for handler in root.handlers if handler not in handlers]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    structlog.reset_defaults()


def talk(url: str) -> None:
    """Send keys and a text in every way, right and wrong, to paths that take them and to others."""
    for path in ("/logged/number?of=1&", "/logged/number?of=none&", "/logged/nothing?", "/v1/models?", "/health?"):
        httpx.get(f"{url}{path}api_key={KEY}")
        httpx.get(f"{url}{path}api_key={WRONG}", headers={"X-API-Key": WRONG})
    spoken = httpx.post(
        f"{url}/v1/audio/speech?api_key={WRONG}", headers={"Authorization": f"Bearer {KEY}"}, json={"input": TEXT}
    )
    assert spoken.status_code == 200
    socket = f"{url.replace('http', 'ws', 1)}/logged/socket"
    for options in (
        {"uri": f"{socket}?api_key={KEY}"},
        {"uri": socket, "subprotocols": [f"page-key.{KEY}", "polyvox"]},
        {"uri": f"{socket}?api_key={WRONG}", "additional_headers": {"Authorization": f"Bearer {KEY}"}},
    ):
        with connect(**options) as opened:
            assert opened.subprotocol == ("polyvox" if "subprotocols" in options else None)
            opened.send(TEXT)
            assert opened.recv() == TEXT
    with pytest.raises(InvalidStatus):
        connect(f"{socket}?api_key={WRONG}", subprotocols=[f"page-key.{WRONG}"])


@pytest.mark.long
@pytest.mark.parametrize("server", [served_by_uvicorn, served_by_granian])
def test_no_log_holds_a_key_or_a_text(server, folder, capfd, caplog):
    service = tone_service(
        api_keys=[KEY], log_level="debug", log_file=folder / "log.jsonl", chunk_log=folder / "chunks.jsonl"
    )
    configure_logging(service.settings)
    for name in ("httpx", "httpcore", "websockets.client"):  # the caller's own lines, in the same process
        caplog.set_level(logging.WARNING, name)
    with server(service, doors=(*DOORS, DOOR)) as url:
        talk(url)
    for handler in logging.getLogger().handlers:
        handler.flush()
    files = [path.read_text(encoding="utf-8") for path in folder.iterdir()]
    everything = "".join([*capfd.readouterr(), caplog.text, *files])
    assert "answered with an error" in everything
    assert len(files) == 2
    assert [word for word in (KEY, WRONG, TEXT) if word in everything] == []
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    if server is served_by_uvicorn:
        assert '"WebSocket /logged/socket" [accepted]' in everything.replace("\\", "")
        assert "GET /logged/number?... HTTP" in everything
