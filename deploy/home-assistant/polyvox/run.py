"""Run Polyvox as a Home Assistant add-on: options become settings, and Home Assistant learns of the Wyoming port."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DATA = Path("/data")
IMAGE_MODELS = Path("/models")
"""The models that are part of the image."""
SUPERVISOR = "http://supervisor"
TOKEN = "SUPERVISOR_TOKEN"  # noqa: S105 - the name of a variable
POLYVOX = ("polyvox",)
USER = 10001
"""The image's user. The token stays with root, in this process: a server that was broken into cannot read it."""
HTTP_PORT = "8880/tcp"
PULL = "pull"
"""The option that is no setting: models that are only fetched."""
POLL_SECONDS = 0.5
TIMEOUT_SECONDS = 10.0


def main() -> int:
    """Prepare, start the server, announce it, and end as it ends."""
    token = os.environ.pop(TOKEN, "")
    options = json.loads((DATA / "options.json").read_text(encoding="utf-8"))
    settings = settings_of(options)
    if "POLYVOX_API_KEYS" not in settings:
        check_unpublished(token)
        settings["POLYVOX_INSECURE"] = "true"
    environment = os.environ | settings
    prepare_folders()
    pull_missing([*options.get("models", []), *options.get(PULL, [])], environment)
    with started("serve", environment=environment) as server:
        signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        announce(server, token)
        return server.wait()


def settings_of(options: Mapping[str, Any]) -> dict[str, str]:
    """The options as the variables of the settings whose names they have; empty ones are left to their defaults."""
    return {
        f"POLYVOX_{name.upper()}": _variable(name, value)
        for name, value in options.items()
        if name != PULL and value not in ("", [])
    }


def _variable(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        if any("," in str(item) for item in value):
            sys.exit(f"A row of the option {name} has a comma; write a row for each value.")
        return ",".join(map(str, value))
    return str(value)


def check_unpublished(token: str) -> None:
    """Refuse to start without keys where the HTTP port is open to the network, or where nobody says that it is not."""
    try:
        ports = call("/addons/self/info", token).get("network") or {}
    except (OSError, ValueError) as error:
        sys.exit(f"The Supervisor does not say which ports are open: {error}. Add a key to the option api_keys.")
    if ports.get(HTTP_PORT):
        sys.exit("Port 8880 is open to your network: add a key to the option api_keys, or clear the port.")


def prepare_folders() -> None:
    """The folders that outlive the container, owned by the server's user; models of the image are linked there."""
    models = DATA / "models"
    for folder in (models, DATA / "polyvox"):
        folder.mkdir(exist_ok=True)
        os.chown(folder, USER, USER)
    for model in IMAGE_MODELS.iterdir():
        link = models / model.name
        if model.is_dir() and not link.exists():
            link.unlink(missing_ok=True)  # it may lead to a model that an older image had
            link.symlink_to(model)


def pull_missing(models: list[str], environment: Mapping[str, str]) -> None:
    """Fetch the models that are neither in the image nor fetched before; the server starts without them, too."""
    for name in models:
        if name != "wren" and not (DATA / "models" / name).exists():  # wren's files are kokoro's
            with started("pull", name, environment=environment) as pulling:
                if pulling.wait():
                    print(f"The model {name} could not be fetched; 'polyvox pull' above says why.", file=sys.stderr)


def started(*arguments: str, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """A command of Polyvox as the image's user; outside of the container, as whoever runs this."""
    identity: dict[str, Any] = {"user": USER, "group": USER, "extra_groups": []} if os.getuid() == 0 else {}
    return subprocess.Popen([*POLYVOX, *arguments], env=dict(environment), **identity)  # noqa: S603 - no shell; names of models have their pattern in config.yaml


def announce(server: "subprocess.Popen[bytes]", token: str) -> None:
    """Tell Home Assistant of the Wyoming port once it answers; it then offers to set the service up."""
    port = int(os.environ["POLYVOX_WYOMING_PORT"])
    while not is_described(port):
        if server.poll() is not None:
            return
        time.sleep(POLL_SECONDS)
    try:
        config = {"uri": f"tcp://{socket.gethostname()}:{port}"}
        call("/discovery", token, {"service": "wyoming", "config": config})
    except (OSError, ValueError) as error:
        print(f"Home Assistant was not told of the Wyoming port: {error}. Add it by hand.", file=sys.stderr)


def is_described(port: int) -> bool:
    """Ask for the voices as Home Assistant does; the port is open before the models are loaded, and silent."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_SECONDS) as connection:
            connection.sendall(b'{"type": "describe"}\n')
            return bool(connection.recv(1))
    except OSError:
        return False


def call(path: str, token: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The `data` of the Supervisor's answer; an OSError or ValueError where there is none."""
    request = urllib.request.Request(  # noqa: S310 - the host is a constant
        SUPERVISOR + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=TIMEOUT_SECONDS) as response:
        data = json.load(response).get("data")
    return data if isinstance(data, dict) else {}


if __name__ == "__main__":
    sys.exit(main())
