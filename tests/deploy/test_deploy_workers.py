"""A server with two processes of doors and one with the models: one server to those who call it."""

import contextlib
import io
import json
import os
import signal
import time
import wave
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from helpers.processes import ProgramProcess, program_process
from helpers.serving import wait_for
from helpers.worker_server import LONG_BYTES, PROGRAM

pytestmark = [pytest.mark.slow]

KEY = "a-key-of-the-settings"
SPEECH = "/v1/audio/speech"
BODY = {"input": "Hello there.", "voice": "low", "response_format": "pcm"}
SLOW = {**BODY, "input": "slow speech"}


class Workers:
    """A running server and its processes, as its log names them."""

    def __init__(self, process: ProgramProcess) -> None:
        self.process = process
        self.url = process.url

    def pids(self) -> list[int]:
        """Its processes: the one with the models first."""
        folder = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in folder.read_text().split()]

    def client(self) -> httpx.Client:
        """A client whose requests each have a connection of their own, so that any process may answer."""
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(base_url=self.url, limits=limits, timeout=20.0, headers={"Authorization": f"Bearer {KEY}"})

    def metric(self, name: str, **labels: str) -> float:
        with self.client() as client:
            text = client.get("/metrics").text
        return sum(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def answered(self) -> set[int]:
        """The processes that have spoken so far."""
        lines = [json.loads(line) for line in self.process.log().splitlines() if '"session"' in line]
        return {line["process"] for line in lines if line.get("event") == "session"}


@contextlib.contextmanager
def server(folder: Path, **settings: Any) -> Iterator[Workers]:
    given = {"port": 0, "data_dir": str(folder / "data"), "api_keys": [KEY], **settings}
    with program_process(PROGRAM, [json.dumps(given)], {}, folder / "log") as process:
        yield Workers(process)


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    with server(tmp_path_factory.mktemp("workers"), workers=2, max_sessions=4, max_queue=0) as running:
        yield running


def spoken(client: httpx.Client, text: str = "Hello there.", **fields: Any) -> httpx.Response:
    return client.post(SPEECH, json={"input": text, "voice": "low", "response_format": "pcm", **fields})


def long_speech(workers: Workers) -> bytes:
    with workers.client() as client:
        return spoken(client, "long speech").content


def streamed(workers: Workers, seconds: float) -> Exception | None:
    """Read a slow stream for a while, as it comes; the error in which it ended before, if any."""
    until = time.monotonic() + seconds
    try:
        with workers.client() as client, client.stream("POST", SPEECH, json=SLOW) as stream:
            for _ in stream.iter_bytes():
                if time.monotonic() > until:
                    return None
    except httpx.HTTPError as error:
        return error
    raise AssertionError("a stream that takes longer ended as if it were whole")


def by_each(workers: Workers, call: Callable[[httpx.Client], Any]) -> list[Any]:
    """What every process of doors answers: asked until each of them has."""
    before = len(workers.answered())
    answers = []
    for _ in range(60):
        with workers.client() as client:
            answers.append(call(client))
        if len(workers.answered()) >= max(2, before):
            return answers
    raise AssertionError("one of the processes never answered")


def test_every_process_answers_with_the_bytes_of_a_server_that_is_one_process(workers: Workers, tmp_path: Path) -> None:
    bodies = [{}, {"response_format": "mp3"}, {"response_format": "wav", "speed": 1.5}, {"voice": "high"}]
    with server(tmp_path, workers=1) as alone, alone.client() as client:
        expected = [spoken(client, **body).content for body in bodies]
    for answers in by_each(workers, lambda client: [spoken(client, **body).content for body in bodies]):
        assert answers == expected


def test_the_limit_on_sessions_holds_over_all_processes(workers: Workers) -> None:
    with contextlib.ExitStack() as stack:
        streams = []
        for _ in range(7):
            client = stack.enter_context(workers.client())
            streams.append(stack.enter_context(client.stream("POST", SPEECH, json=SLOW)))
        statuses = sorted(stream.status_code for stream in streams)
        assert statuses == [200] * 4 + [429] * 3
        assert all("retry-after" in stream.headers for stream in streams if stream.status_code == 429)
        assert workers.metric("polyvox_active_sessions") == 4
    wait_for(lambda: workers.metric("polyvox_active_sessions") == 0, seconds=10.0)


def test_what_leaves_the_client_leaves_the_engine(workers: Workers) -> None:
    with workers.client() as client, client.stream("POST", SPEECH, json={"input": "slow", "voice": "low"}) as stream:
        pieces = stream.iter_bytes()  # closed with the last reference to it, and the answer with it
        assert next(pieces)
        assert workers.metric("polyvox_active_sessions") == 1
    wait_for(lambda: workers.metric("polyvox_active_sessions") == 0, seconds=10.0)


def test_metrics_are_the_sum_of_all_processes(workers: Workers) -> None:
    before = workers.metric("polyvox_requests_total", door="openai")
    answers = by_each(workers, spoken)
    assert workers.metric("polyvox_requests_total", door="openai") == before + len(answers)
    assert workers.metric("polyvox_session_limit") == 4
    assert workers.metric("polyvox_voice_store_available") == 1


def test_a_voice_that_one_process_registers_is_spoken_by_every_other(workers: Workers) -> None:
    recording = io.BytesIO()
    with wave.open(recording, "wb") as file:
        file.setparams((1, 2, 24_000, 0, "NONE", ""))
        noise = np.random.default_rng(0).normal(0, 6_000, 24_000 * 5).astype("<i2")
        file.writeframes(noise.tobytes())
    with workers.client() as client:
        answer = client.post(
            "/v1/voices",
            data={"name": "mine", "transcript": "These are my words."},
            files={"audio": ("mine.wav", recording.getvalue(), "audio/wav")},
        )
        assert answer.is_success, answer.text
    answers = by_each(workers, lambda client: spoken(client, voice="mine"))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1


def test_limits_of_keys_hold_over_all_processes(tmp_path: Path) -> None:
    limits = {"max_requests_a_minute_per_address": 5, "api_keys": [], "trusted_proxies": ["127.0.0.1/32"]}
    with server(tmp_path, workers=2, **limits) as workers:
        statuses = []
        for _ in range(9):
            with workers.client() as client:
                statuses.append(client.post(SPEECH, json=BODY, headers={"X-Forwarded-For": "203.0.113.7"}).status_code)
        assert sorted(statuses) == [200] * 5 + [429] * 4


class TestProcessesThatEnd:
    """Of a server of their own, since they leave it changed."""

    @pytest.fixture(scope="class")
    def mortal(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
        with server(tmp_path_factory.mktemp("mortal"), workers=2) as running:
            yield running

    def test_a_killed_process_of_doors_breaks_its_streams_alone_and_is_back(self, mortal: Workers) -> None:
        models, *doors = mortal.pids()
        with ThreadPoolExecutor(8) as threads:
            streams = [threads.submit(streamed, mortal, seconds=2.5) for _ in range(8)]
            wait_for(lambda: mortal.metric("polyvox_active_sessions") == 8, seconds=10.0)
            os.kill(doors[0], signal.SIGKILL)
            ends = [stream.result() for stream in streams]
        broken = [end for end in ends if end is not None]
        assert 0 < len(broken) < 8, ends
        assert all(isinstance(error, httpx.RemoteProtocolError | httpx.ReadError) for error in broken)
        wait_for(lambda: mortal.metric("polyvox_active_sessions") == 0, seconds=10.0)
        wait_for(lambda: len(mortal.pids()) == 3 and doors[0] not in mortal.pids())
        assert models in mortal.pids()
        by_each(mortal, spoken)
        assert mortal.metric("polyvox_requests_total", door="openai") >= 8

    def test_doors_answer_503_while_the_models_are_started_again(self, mortal: Workers) -> None:
        models = mortal.pids()[0]
        with ThreadPoolExecutor(1) as threads:
            stream = threads.submit(streamed, mortal, seconds=30.0)
            wait_for(lambda: mortal.metric("polyvox_active_sessions") == 1, seconds=10.0)
            os.kill(models, signal.SIGSTOP)  # so that there is time to look: it is there, and answers nobody
            os.kill(models, signal.SIGKILL)
            assert stream.result() is not None, "a stream that lost its model must not end as if it were whole"
        statuses = set()
        until_back = False
        while not until_back:
            with mortal.client() as client:
                answer = spoken(client)
                if answer.status_code == 503:
                    assert int(answer.headers["retry-after"]) > 0
                    assert "started again" in answer.json()["error"]["message"]
                statuses.add(answer.status_code)
                until_back = answer.status_code == 200
        assert statuses <= {200, 503}
        assert models not in mortal.pids()
        by_each(mortal, spoken)


def test_a_signal_lets_open_streams_finish_and_ends_all_processes(tmp_path: Path) -> None:
    with server(tmp_path, workers=2, drain_seconds=10.0) as workers:
        pids = workers.pids()
        with ThreadPoolExecutor(4) as threads:
            texts = [threads.submit(long_speech, workers) for _ in range(4)]
            wait_for(lambda: workers.metric("polyvox_active_sessions") == 4, seconds=10.0)
            workers.process.terminate()
            assert {len(text.result()) for text in texts} == {LONG_BYTES}
        assert workers.process.process.wait(20.0) == 0
        assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
