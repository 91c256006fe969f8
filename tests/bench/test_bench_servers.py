"""The benchmark of the servers side by side."""

import io
import json

import pytest
from rich.console import Console

from polyvox.bench.process import server_process
from polyvox.bench.servers import ServerFigures, ServerRound, as_table, grpc_calls, http_calls, inference_request
from polyvox.errors import PolyvoxError

ROUNDS = (ServerRound((0.001, 0.002, 0.003), 100.0, 0.004), ServerRound((0.001, 0.001, 0.009), 300.0, 0.002))


def test_figures_are_medians_over_all_rounds() -> None:
    figures = ServerFigures("one", ROUNDS)
    assert figures.first_ms == pytest.approx(1.5)
    assert figures.rate == pytest.approx(200.0)
    assert figures.cpu_ms == pytest.approx(3.0)
    assert figures.first_ms < figures.first_ms_95


def test_everything_measured_can_be_written_down() -> None:
    written = json.loads(json.dumps(ServerFigures("one", ROUNDS).as_json()))
    assert written["rounds"][1]["first_seconds"] == [0.001, 0.001, 0.009]


def test_the_table_has_a_row_for_each_server() -> None:
    page = io.StringIO()
    Console(width=100, file=page).print(as_table([ServerFigures("one", ROUNDS), ServerFigures("two", ROUNDS)]))
    rows = [line for line in page.getvalue().splitlines() if " ms" in line]
    assert ["one" in rows[0], "two" in rows[1], "1.50 ms" in rows[0], "200" in rows[0]] == [True] * 4


@pytest.mark.long
def test_both_protocols_bring_the_same_audio() -> None:
    with server_process(["bench", "null-server", "--server", "granian", "--grpc-port", "0"]) as running:
        for calls in (http_calls(running.url), grpc_calls(running.grpc, inference_request())):
            with calls as call:
                for _ in range(2):
                    timing = call()
                    assert timing.audio == pytest.approx(20.0, abs=0.001)
                    assert 0 < timing.first <= timing.total
        assert running.cpu_seconds() > 0


def test_a_call_that_fails_is_an_error_with_its_code() -> None:
    with grpc_calls("127.0.0.1:9", b"") as call, pytest.raises(PolyvoxError, match="UNAVAILABLE"):
        call()
