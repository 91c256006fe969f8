"""`polyvox bench` from the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.scripted_server import ScriptedServer
from helpers.tables import each_row
from polyvox.bench.texts import ENGLISH
from polyvox.cli.main import app


def bench(*arguments: str):
    return CliRunner().invoke(app, ["bench", *arguments])


@pytest.mark.long
def test_a_run_prints_a_table_and_writes_json_and_a_plot(scripted_server: ScriptedServer, tmp_path: Path) -> None:
    scripted_server.pieces |= {text: [(0.01, 0.5)] for text in ENGLISH}
    files = ("--json", str(tmp_path / "run.json"), "--plot", str(tmp_path / "run.png"))
    result = bench("--url", scripted_server.url, "-n", "6", "-c", "2", *files)
    assert result.exit_code == 0, result.stderr
    assert "time to first audio" in result.stdout
    document = json.loads((tmp_path / "run.json").read_text())
    assert document["summary"]["ok"] == 6
    assert document["summary"]["audio_seconds"] == pytest.approx(3.0)
    assert (tmp_path / "run.png").stat().st_size > 0


@pytest.mark.long
def test_a_curve_goes_over_the_streams_at_once(scripted_server: ScriptedServer, tmp_path: Path) -> None:
    scripted_server.pieces |= {text: [(0.2, 0.5)] for text in ENGLISH}
    files = ("--json", str(tmp_path / "curve.json"), "--plot", str(tmp_path / "curve.png"))
    result = bench("curve", "1", "12", "--url", scripted_server.url, *files)
    assert result.exit_code == 0, result.stderr
    points = json.loads((tmp_path / "curve.json").read_text())
    assert [(point["at_once"], point["ok"]) for point in points] == [(1, 8), (12, 12)]
    assert points[1]["audio_per_second"] > points[0]["audio_per_second"]
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_a_curve_of_a_server_that_does_not_answer_fails() -> None:
    assert bench("curve", "1", "--url", "http://127.0.0.1:9").exit_code == 1


def test_an_open_loop_takes_a_rate(scripted_server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("hello\n")
    scripted_server.pieces["hello"] = [(0.0, 0.5)]
    result = bench("--url", scripted_server.url, "-n", "5", "-r", "100", "--texts", str(tmp_path / "texts.txt"))
    assert result.exit_code == 0, result.stderr
    assert "open loop, 100 a second" in result.stdout


@pytest.mark.long
def test_the_stress_test_sends_fifty_requests_at_once(scripted_server: ScriptedServer) -> None:
    scripted_server.pieces |= {text: [(0.01, 0.5)] for text in ENGLISH}
    result = bench("--url", scripted_server.url, "--profile", "slo")
    assert result.exit_code == 0, result.stderr
    assert "closed loop, 50 at a time" in result.stdout
    assert "Total Requests: 50\nMin Time: " in result.stdout
    assert "P99 RTF: " in result.stdout


def test_a_run_in_which_nothing_was_spoken_fails() -> None:
    result = bench("--url", "http://127.0.0.1:9", "-n", "2")
    assert result.exit_code == 1
    assert "Failed (2)" in result.stdout


@each_row(
    ("arguments", "complaint"),
    [
        (("--dialect", "morse"), "Unknown dialect 'morse'"),
        (("--requests", "0"), "Requests must be"),
        (("--rate", "-1"), "rate must be above 0"),
        (("--plot", "run.gif"), "PNG"),
        (("--url", "file:///etc"), "http://HOST:PORT"),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_run(arguments: tuple[str, ...], complaint: str) -> None:
    result = bench(*arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr


@pytest.mark.parametrize(
    ("missing", "named"),
    [({"granian"}, "granian is not"), ({"grpc"}, "gRPC is not"), ({"granian", "grpc"}, "granian and gRPC are not")],
)
def test_servers_that_are_not_installed_are_one_line(
    missing: set[str], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polyvox.extras.find_spec", lambda name: None if name in missing else object())
    result = bench("servers")
    assert result.exit_code == 1
    assert f"{named} installed; run: pip install -e '.[granian,grpc]'" in result.stderr
    assert result.stderr.count("\n") == 1
