"""Load against a server whose delays are known: the figures must be those delays."""

import numpy as np
import pytest

from helpers.tables import each_row
from polyvox.bench.dialect import OpenAIDialect
from polyvox.bench.dialects import dialect_named
from polyvox.bench.load import Load, LoadRun, Outcome, run_load
from polyvox.bench.report import summarize
from polyvox.errors import InvalidRequestError

SLACK = 0.6
"""How late a shared machine may be with a timer, in seconds."""

pytestmark = [pytest.mark.anyio, pytest.mark.alone]


def load(*texts: str, requests: int, **options: object) -> Load:
    return Load(texts, "test_voice", "test_model", requests, **options)  # type: ignore[arg-type]


async def run(server, plan: Load) -> LoadRun:
    return await run_load(plan, OpenAIDialect(), server.url)


async def test_times_and_audio_are_those_of_the_stream(scripted_server) -> None:
    scripted_server.pieces["hello"] = [(0.2, 0.5), (0.3, 1.5)]
    (sample,) = (await run(scripted_server, load("hello", requests=1))).samples
    assert sample.outcome is Outcome.OK
    assert sample.audio_seconds == pytest.approx(2.0)
    assert 0.2 <= sample.first_audio < 0.2 + SLACK
    assert 0.5 <= sample.latency < 0.5 + SLACK
    assert sample.real_time_factor == pytest.approx(sample.latency / 2.0)
    assert (sample.underruns, sample.starved) == (0, 0.0)
    assert sample.chars == 5


async def test_first_audio_waits_for_samples_not_for_the_status_line(scripted_server) -> None:
    scripted_server.pieces["late"] = [(0.0, 0.0), (0.3, 1.0)]
    (sample,) = (await run(scripted_server, load("late", requests=1))).samples
    assert sample.first_audio >= 0.3


async def test_a_stream_that_stalls_starves_the_player(scripted_server) -> None:
    scripted_server.pieces["stall"] = [(0.0, 0.1), (0.5, 1.0)]
    (plain,) = (await run(scripted_server, load("stall", requests=1))).samples
    assert plain.underruns == 1
    assert plain.starved == pytest.approx(plain.latency - plain.first_audio - 0.1, abs=0.1)
    (buffered,) = (await run(scripted_server, load("stall", requests=1, prebuffer=5.0))).samples
    assert buffered.underruns == 0


async def test_the_request_is_pcm_in_the_dialects_words(scripted_server) -> None:
    scripted_server.pieces["hello"] = [(0.0, 0.1)]
    await run_load(load("hello", requests=1), OpenAIDialect(), f"{scripted_server.url}/v1/", api_key="sesame")
    assert scripted_server.bodies == [
        {"model": "test_model", "input": "hello", "voice": "test_voice", "response_format": "pcm"}
    ]
    assert scripted_server.headers[0]["authorization"] == "Bearer sesame"


async def test_a_closed_loop_keeps_so_many_requests_in_the_air(scripted_server) -> None:
    scripted_server.pieces["hello"] = [(0.2, 0.1)]
    result = await run(scripted_server, load("hello", requests=6, concurrency=3))
    assert len(result.samples) == 6
    in_the_air = [
        sum(other.due <= sample.due < other.due + other.latency for other in result.samples)
        for sample in result.samples
    ]
    assert max(in_the_air) == 3


async def test_an_open_loop_sends_on_time_however_slow_the_answers(scripted_server) -> None:
    scripted_server.pieces["slow"] = [(0.5, 0.1)]
    rate, count = 50.0, 40
    result = await run(scripted_server, load("slow", requests=count, rate=rate, seed=3))
    dues = np.array([sample.due for sample in result.samples])
    sent = np.array(sorted(scripted_server.times)) - min(scripted_server.times)
    assert np.abs(sent - (dues - dues[0])).max() < SLACK
    assert result.seconds < dues[-1] + 0.5 + 2 * SLACK


async def test_the_seed_fixes_the_arrivals_and_their_mean_gap_is_the_rate(scripted_server) -> None:
    scripted_server.pieces["hello"] = [(0.0, 0.1)]
    dues = {}
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        result = await run(scripted_server, load("hello", requests=60, rate=200.0, seed=seed))
        dues[name] = [sample.due for sample in result.samples]
    assert dues["first"] == dues["again"] != dues["other"]
    assert 0.5 / 200 < np.diff(dues["first"]).mean() < 2 / 200


async def test_every_text_gets_its_turn(scripted_server) -> None:
    for text in "abc":
        scripted_server.pieces[text] = [(0.0, 0.1)]
    await run(scripted_server, load("a", "b", "c", requests=6))
    assert sorted(str(body["input"]) for body in scripted_server.bodies) == list("aabbcc")


async def test_refusals_and_failures_are_counted_apart(scripted_server) -> None:
    scripted_server.pieces |= {"good": [(0.0, 1.0)], "silent": [(0.0, 0.0)], "broken": [(0.0, 1.0), (0.1, -1.0)]}
    scripted_server.refusals |= {"busy": 429, "wrong": 400}
    texts = ("good", "silent", "broken", "busy", "wrong")
    summary = summarize(await run(scripted_server, load(*texts, requests=5)))
    assert (summary.ok, summary.overloaded, summary.failed) == (1, 1, 3)
    assert summary.audio_seconds == pytest.approx(1.0)
    assert "400: This is a 400." in summary.errors
    assert "the answer held no audio" in summary.errors


async def test_a_request_that_never_ends_is_given_up(scripted_server) -> None:
    scripted_server.pieces["endless"] = [(0.0, 0.1), (30.0, 0.1)]
    (sample,) = (await run(scripted_server, load("endless", requests=1, timeout=0.3))).samples
    assert sample.outcome is Outcome.FAILED
    assert sample.error == "no end within 0.3 s"
    assert sample.latency < 0.3 + SLACK


async def test_a_server_that_does_not_answer_is_a_failure_not_a_crash() -> None:
    result = await run_load(load("hello", requests=2), OpenAIDialect(), "http://127.0.0.1:9")
    assert [sample.outcome for sample in result.samples] == [Outcome.FAILED] * 2


@each_row(
    ("field", "value"),
    [
        ("requests", 0),
        ("requests", 10**9),
        ("concurrency", 0),
        ("rate", 0.0),
        ("rate", float("nan")),
        ("timeout", 0.0),
        ("prebuffer", -1.0),
    ],
)
async def test_a_load_out_of_bounds_is_refused(field: str, value: float) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        load("hello", **{"requests": 1, field: value})
    assert refused.value.field == field


async def test_dialects_go_by_name() -> None:
    for name in ("openai", "cosyvoice", "rayserve", "grpc"):
        assert dialect_named(name).name == name
    with pytest.raises(InvalidRequestError, match="openai"):
        dialect_named("morse")


async def test_an_open_loop_may_be_evenly_spaced(scripted_server) -> None:
    scripted_server.pieces["hello"] = [(0.0, 0.1)]
    samples = (await run(scripted_server, load("hello", requests=4, rate=20.0, poisson=False))).samples
    assert [sample.due for sample in samples] == pytest.approx([0.05, 0.1, 0.15, 0.2])
