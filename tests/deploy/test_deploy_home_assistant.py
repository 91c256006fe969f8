"""The Home Assistant add-on: valid by the Supervisor's rules, and a script that turns its options into a server."""

import importlib.util
import json
import os
import re
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from helpers.dockerfile import parse_dockerfile
from helpers.serving import wait_for
from helpers.shared_services import free_port
from polyvox import __version__
from polyvox.api.middleware.hosts import check_exposure, names_to_answer
from polyvox.config import ENV_PREFIX, Settings
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings, settings_loader

ROOT = Path(__file__).parents[2]
ADDON = ROOT / "deploy/home-assistant/polyvox"
KILL_MARGIN_SECONDS = 10

FIELDS = {
    "name": r".+",
    "version": r"\d+\.\d+\.\d+",
    "slug": r"[-_.A-Za-z0-9]+",
    "description": r".+",
    "url": r"https://\S+",
    "startup": r"initialize|system|services|application|once",
    "ingress": r"True|False",
    "ingress_port": r"\d+",
    "ingress_stream": r"True|False",
    "panel_icon": r"mdi:[-a-z]+",
    "panel_title": r".+",
    "watchdog": r"(?:https?|\[PROTO:\w+\]|tcp)://\[HOST\]:(\[PORT:\d+\]|\d+).*",
    "timeout": r"[1-9]\d|[12]\d\d|300",
}
"""The scalar fields of `config.yaml` that are used here, by the Supervisor's rules for them."""
OTHER_FIELDS = {"arch", "discovery", "ports", "backup_exclude", "options", "schema"}
ELEMENT = r"(bool|email|url|port|str|password|int|float|match\(.*\)|list\(.+\))\??"
"""What the Supervisor takes for an option's type, without the limits that some of them may have."""


def read(name: str) -> dict[str, Any]:
    return yaml.safe_load((ADDON / name).read_text(encoding="utf-8"))


CONFIG = read("config.yaml")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script with folders of its own, as this user."""
    spec = importlib.util.spec_from_file_location("addon_run", ADDON / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "data").mkdir()
    (tmp_path / "image/kokoro").mkdir(parents=True)
    monkeypatch.setattr(module, "DATA", tmp_path / "data")
    monkeypatch.setattr(module, "IMAGE_MODELS", tmp_path / "image")
    monkeypatch.setattr(module, "USER", os.getuid())
    return module


@contextmanager
def supervisor(ports: dict[str, int | None]) -> Iterator[tuple[str, list[tuple[str, str, Any]]]]:
    """The address of a Supervisor that has published these ports, and what it is told: path, key, body."""
    told: list[tuple[str, str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            told.append((self.path, self.headers["Authorization"], json.loads(body) if body else None))
            answer = json.dumps({"result": "ok", "data": {"network": ports}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", told
        finally:
            server.shutdown()
            thread.join()


def test_the_supervisor_takes_every_field() -> None:
    assert set(CONFIG) == set(FIELDS) | OTHER_FIELDS
    wrong = {name: CONFIG[name] for name, rule in FIELDS.items() if not re.fullmatch(rule, str(CONFIG[name]))}
    assert wrong == {}
    assert CONFIG["arch"] == ["amd64", "aarch64"]
    assert CONFIG["discovery"] == ["wyoming"]
    assert {name: bool(re.fullmatch(r"\d+/(tcp|udp)", name)) for name in CONFIG["ports"]} == dict.fromkeys(
        CONFIG["ports"], True
    )
    types = [kind[0] if isinstance(kind, list) else kind for kind in CONFIG["schema"].values()]
    assert [kind for kind in types if not re.fullmatch(ELEMENT, kind)] == []
    image = r"([a-zA-Z\-.:\d]+/)*?[\-\w]+/[\-\w]+(:[.\-\w]+)?"
    assert all(re.fullmatch(image, name) for name in read("build.yaml")["build_from"].values())
    assert set(read("build.yaml")["build_from"]) == set(CONFIG["arch"])


def test_every_option_has_a_default_a_type_a_label_and_a_setting_that_takes_it(run: ModuleType) -> None:
    assert list(CONFIG["options"]) == list(CONFIG["schema"]) == list(read("translations/en.yaml")["configuration"])
    assert set(read("translations/en.yaml")["network"]) == set(CONFIG["ports"])
    loader = settings_loader(Catalog.installed())
    assert set(CONFIG["options"]) - {run.PULL} <= set(loader.names())
    given = run.settings_of(CONFIG["options"])
    settings = load_settings(**{name.removeprefix(ENV_PREFIX).lower(): value for name, value in given.items()})
    default = Settings()
    for name in CONFIG["options"].keys() - {"allow_pull", "voice_aliases", run.PULL}:
        assert getattr(settings, name) == getattr(default, name), name
    assert settings.allow_pull is True
    for name in ("consent", "log_level"):
        allowed = CONFIG["schema"][name].removeprefix("list(").removesuffix(")").split("|")
        assert set(allowed) == set(Settings.model_fields[name].annotation.__args__), name


def test_its_image_opens_what_its_configuration_names() -> None:
    before, stages = parse_dockerfile(ADDON / "Dockerfile")
    stage = stages[""]
    variables = dict(pair.split("=", 1) for rest in stage.all("ENV") for pair in rest.split())
    known = {f"{ENV_PREFIX}{name}".upper() for name in settings_loader(Catalog.installed()).names()}
    assert {name for name in variables if name.startswith(ENV_PREFIX)} <= known
    assert before[0].rest == f"BUILD_FROM={read('build.yaml')['build_from']['amd64']}"
    port = variables["POLYVOX_WYOMING_PORT"]
    assert set(CONFIG["ports"]) == {f"{port}/tcp", f"{Settings().port}/tcp"}
    assert set(CONFIG["ports"].values()) == {None}, "nothing is open to the network before somebody says so"
    assert CONFIG["ingress_port"] == Settings().port
    assert all(variables[f"POLYVOX_{name}_DIR"].startswith("/data/") for name in ("DATA", "MODELS"))
    assert CONFIG["timeout"] >= Settings().drain_seconds + KILL_MARGIN_SECONDS
    assert CONFIG["version"] == __version__
    sizes = {name: struct.unpack(">II", (ADDON / name).read_bytes()[16:24]) for name in ("icon.png", "logo.png")}
    assert sizes == {"icon.png": (128, 128), "logo.png": (250, 100)}


def test_a_row_with_a_comma_is_refused_and_not_read_as_two_keys(run: ModuleType) -> None:
    with pytest.raises(SystemExit, match="api_keys has a comma"):
        run.settings_of({"api_keys": ["one,two"]})
    assert run.settings_of({"api_keys": ["one", "two"], "allow_pull": False, "default_voice": ""}) == {
        "POLYVOX_API_KEYS": "one,two",
        "POLYVOX_ALLOW_PULL": "false",
    }


def test_without_a_key_it_starts_only_where_no_port_is_open(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with supervisor({"8880/tcp": None, "10200/tcp": None}) as (url, _):
        monkeypatch.setattr(run, "SUPERVISOR", url)
        run.check_unpublished("token")
    with pytest.raises(SystemExit, match="Add a key"):  # the Supervisor is gone
        run.check_unpublished("token")
    with supervisor({"8880/tcp": 8880}) as (url, _):
        monkeypatch.setattr(run, "SUPERVISOR", url)
        with pytest.raises(SystemExit, match="add a key"):
            run.check_unpublished("token")
    settings = load_settings(host="0.0.0.0", insecure=True)
    check_exposure(settings)
    assert names_to_answer(settings) is None, "Home Assistant calls by whichever name its user does"


SERVER = """
import json, os, signal, socket, sys
if sys.argv[1] == "pull":
    os.makedirs(os.environ["POLYVOX_MODELS_DIR"] + "/" + sys.argv[2])
    sys.exit()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
listener = socket.create_server(("127.0.0.1", int(os.environ["POLYVOX_WYOMING_PORT"])))
with open(os.environ["POLYVOX_DATA_DIR"] + "/seen.json", "w") as file:
    json.dump(dict(os.environ), file)
for answer in (b"", b'{"type": "info"}'):
    client = listener.accept()[0]
    assert client.recv(100) == b'{"type": "describe"}\\n'
    client.sendall(answer)
    client.close()
signal.pause()
"""
"""Stands in for `polyvox`: notes what it was given, answers the second time, and ends on SIGTERM."""


def test_it_fetches_starts_announces_and_ends_with_the_server(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    port = free_port()
    (run.DATA / "options.json").write_text(
        json.dumps({"models": ["wren", "kokoro"], "pull": ["other"], "api_keys": []})
    )
    monkeypatch.setattr(run, "POLYVOX", (sys.executable, "-c", SERVER))
    monkeypatch.setattr(run, "POLL_SECONDS", 0.01)
    monkeypatch.setenv("SUPERVISOR_TOKEN", "secret")
    monkeypatch.setenv("POLYVOX_WYOMING_PORT", str(port))
    monkeypatch.setenv("POLYVOX_MODELS_DIR", str(run.DATA / "models"))
    monkeypatch.setenv("POLYVOX_DATA_DIR", str(run.DATA / "polyvox"))
    handlers: list[Any] = []
    monkeypatch.setattr(run.signal, "signal", lambda _, handler: handlers.append(handler))

    with supervisor({"8880/tcp": None}) as (url, told):
        monkeypatch.setattr(run, "SUPERVISOR", url)
        ended: list[int] = []
        thread = threading.Thread(target=lambda: ended.append(run.main()))
        thread.start()
        wait_for(lambda: len(told) == 2 or not thread.is_alive(), seconds=30.0)
        handlers[0]()
        thread.join(30)
    assert ended == [7]
    assert told[0] == ("/addons/self/info", "Bearer secret", None)
    uri = f"tcp://{run.socket.gethostname()}:{port}"
    assert told[1] == ("/discovery", "Bearer secret", {"service": "wyoming", "config": {"uri": uri}})
    seen = json.loads((run.DATA / "polyvox/seen.json").read_text())
    assert (seen["POLYVOX_MODELS"], seen["POLYVOX_INSECURE"]) == ("wren,kokoro", "true")
    assert "POLYVOX_PULL" not in seen
    assert "secret" not in seen.values()
    assert (run.DATA / "models/kokoro").resolve() == tmp_path / "image/kokoro"
    assert (run.DATA / "models/other").is_dir()
