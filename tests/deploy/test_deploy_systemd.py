"""The systemd unit: valid, hardened, and as patient as the server's own shutdown."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from polyvox.config import ENV_PREFIX, Settings
from polyvox.engines.catalog import Catalog
from polyvox.installation import settings_loader

UNIT = Path(__file__).parents[2] / "deploy/systemd/polyvox.service"
MOST_EXPOSURE = 2.0
"""Of 10, as systemd-analyze counts: up to 2 it says OK."""
KILL_MARGIN_SECONDS = 10

systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that exists here in place of the installed one, which systemd looks for."""
    copy = tmp_path / UNIT.name
    copy.write_text(re.sub(r"(?<=^ExecStart=)\S+", sys.executable, UNIT.read_text(), flags=re.MULTILINE))
    return copy


def values(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)


def analyze(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    words = ["systemd-analyze", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


@systemd
def test_systemd_accepts_every_line(unit: Path) -> None:
    found = analyze("verify", "--man=no", unit)
    assert (found.returncode, found.stderr) == (0, "")


@systemd
def test_systemd_would_complain_of_a_wrong_line(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("ProtectSystem=strict", "ProtectSystems=strict"))
    assert "ProtectSystems" in analyze("verify", "--man=no", unit).stderr


@systemd
def test_little_is_left_that_it_could_do_to_its_machine(unit: Path) -> None:
    report = analyze("security", "--offline=yes", "--no-pager", unit).stdout
    [level] = re.findall(r"Overall exposure level for polyvox\.service: ([\d.]+)", report)
    assert float(level) <= MOST_EXPOSURE


def test_it_is_killed_only_after_its_streams_could_finish() -> None:
    assert int(values("TimeoutStopSec")[0]) >= Settings().drain_seconds + KILL_MARGIN_SECONDS
    assert values("KillSignal") == ["SIGTERM"]
    assert values("KillMode") == ["mixed"], "the server's children end with it, not beside it"


def test_its_folders_are_those_that_it_may_write_to() -> None:
    given = dict(pair.split("=", 1) for line in values("Environment") for pair in line.split())
    known = {f"{ENV_PREFIX}{name}".upper() for name in settings_loader(Catalog.installed()).names()}
    assert {name for name in given if name.startswith(ENV_PREFIX)} <= known
    assert given["POLYVOX_DATA_DIR"] == given["HOME"] == f"%S/{values('StateDirectory')[0]}"
    assert given["POLYVOX_MODELS_DIR"].startswith(f"%C/{values('CacheDirectory')[0]}/")
    assert values("DynamicUser") == ["yes"]
    assert values("ProtectSystem") == ["strict"]
