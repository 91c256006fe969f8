"""Real clients of other projects, each run in the environment that `make clients` installed its packages into."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_SCRIPTS = _ROOT / "tests" / "clients"
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "OMP_NUM_THREADS")


def run_client(environment: str, script: str, *args: object, timeout: float = 120.0) -> dict[str, Any]:
    """Run a script of `tests/clients` in an environment; the last line that it prints is its result, a JSON object.

    The script inherits no keys, proxies or Python paths, and its home is an empty folder.
    """
    return _run(script, [client_python(environment), "-X", "utf8", _SCRIPTS / script, *args], {}, timeout)


def run_javascript(script: str, *args: object, timeout: float = 120.0, **variables: str) -> dict[str, Any]:
    """The same with Node.js; the script's first argument is the folder of its packages."""
    node = shutil.which("node")
    if node is None:
        pytest.fail("there is no Node.js: run apt-get install nodejs npm, then make clients")
    return _run(script, [node, _SCRIPTS / script, _environment("node"), *args], variables, timeout)


def client_python(environment: str) -> Path:
    """The interpreter of an environment."""
    return _environment(environment) / "bin" / "python"


def _environment(name: str) -> Path:
    """The folder of an environment; a test that finds none fails, for no client may go untested unnoticed."""
    folder = Path(os.environ.get("POLYVOX_CLIENT_ENVS") or _ROOT)
    if not (folder / f".venv-{name}").exists():
        pytest.fail(f"there is no environment .venv-{name} in {folder}: run make clients")
    return folder / f".venv-{name}"


def _run(script: str, command: list[object], variables: dict[str, str], timeout: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="polyvox-client-") as home:
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environment = {**inherited, "HOME": home, **variables}
        try:
            ended = subprocess.run(
                [str(part) for part in command],
                env=environment,
                cwd=home,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            pytest.fail(f"{script} did not end within {timeout:g} s\n{_tails(error.stdout, error.stderr)}")
    return _result(script, ended)


def _result(script: str, ended: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    printed = ended.stdout.decode(errors="replace").splitlines()
    try:
        result = json.loads(printed[-1])
    except (IndexError, ValueError):
        result = None
    if ended.returncode != 0 or not isinstance(result, dict):
        expected = "0 and a JSON object as the last line"
        pytest.fail(f"{script} ended with {ended.returncode}, not {expected}\n{_tails(ended.stdout, ended.stderr)}")
    return result


def _tails(stdout: bytes | None, stderr: bytes | None) -> str:
    return "\n".join(
        f"--- {name}\n{(data or b'')[-6_000:].decode(errors='replace')}"
        for name, data in (("stdout", stdout), ("stderr", stderr))
    )
