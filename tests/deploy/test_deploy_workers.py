"""A server with two processes of doors and one with the models: one server to those who call it."""

import asyncio
import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from helpers.processes import ProgramProcess, program_process
from helpers.realtime_client import HeardContext, realtime_client
from helpers.serving import wait_for
from helpers.worker_server import LONG_BYTES, PROGRAM

pytestmark = [pytest.mark.slow]

RECORDING = (Path(__file__).parents[1] / "recordings" / "librivox_a.flac").read_bytes()
KEY = "a-key-of-the-settings"
SPEECH = "/v1/audio/speech"
BODY = {"input": "Hello there.", "voice": "low", "response_format": "pcm"}
STREAMS = 12
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

    def speakers(self) -> list[int]:
        """The processes that have spoken, one for each session so far."""
        lines = [json.loads(line) for line in self.process.log().splitlines() if '"session"' in line]
        return [line["process"] for line in lines if line.get("event") == "session"]


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


class Listener:
    """Reads slow streams as they come, until it is told to stop or they end."""

    def __init__(self, workers: Workers, streams: int) -> None:
        self._workers = workers
        self._streams = streams
        self._begun = threading.Semaphore(0)
        self._stopped = threading.Event()
        self._threads = ThreadPoolExecutor(streams)
        self._ends = [self._threads.submit(self._listen) for _ in range(streams)]

    def wait(self) -> None:
        """Wait until all of them are heard."""
        for _ in range(self._streams):
            assert self._begun.acquire(timeout=20.0)

    def ends(self) -> list[Exception | None]:
        """Stop; the errors in which streams ended before, None for each that played on."""
        self._stopped.set()
        return [end.result() for end in self._ends]

    def errors(self) -> list[Exception | None]:
        """Wait for the ends of all of them."""
        return [end.result() for end in self._ends]

    def _listen(self) -> Exception | None:
        try:
            with self._workers.client() as client, client.stream("POST", SPEECH, json=SLOW) as stream:
                for number, _ in enumerate(stream.iter_bytes()):
                    if not number:
                        self._begun.release()
                    if self._stopped.is_set():
                        return None
        except httpx.HTTPError as error:
            return error
        raise AssertionError("a stream that takes longer ended as if it were whole")


def by_each(workers: Workers, call: Callable[[httpx.Client], Any]) -> list[Any]:
    """The answers of every process of doors, asked until each of them has spoken."""
    before, answers = len(workers.speakers()), []
    for _ in range(60):
        with workers.client() as client:
            answers.append(call(client))
        if len(set(workers.speakers()[before:])) == 2:
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
    with workers.client() as client:
        form = {"name": "mine", "transcribe": "none"}
        answer = client.post("/v1/voices", data=form, files={"audio": ("a.flac", RECORDING)})
        assert answer.status_code == 201, answer.text
    answers = by_each(workers, lambda client: spoken(client, voice="mine"))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].content != spoken(workers.client()).content


def test_a_file_that_one_process_made_is_fetched_through_any(workers: Workers) -> None:
    def fetched(client: httpx.Client) -> bool:
        made = spoken(client, return_download_link=True, stream=False)
        with workers.client() as other:
            return other.get(f"/v1{made.headers['x-download-path']}").content == made.content

    assert all(by_each(workers, fetched))


def test_a_socket_speaks_with_a_key_of_the_settings_and_with_one_that_the_server_handed_out(workers: Workers) -> None:
    with workers.client() as client:
        secret = client.post("/v1/realtime/client_secrets", json={}).json()["value"]
    for key in (KEY, secret):
        with connect(
            f"{workers.url.replace('http', 'ws', 1)}/v1/realtime?model=tone",
            additional_headers={"Authorization": f"Bearer {key}"},
        ) as socket:
            assert json.loads(socket.recv(10.0))["type"] == "session.created"


def test_text_that_arrives_on_a_socket_is_spoken_as_one_stream(workers: Workers) -> None:
    async def heard() -> HeardContext:
        headers = {"Authorization": f"Bearer {KEY}"}
        async with realtime_client(workers.url, additional_headers=headers) as client, asyncio.timeout(20.0):
            context = await client.start("a", voice="low")
            for fragment in ("Here is the fi", "rst sentence. ", "And here is ", "the second one."):
                await client.send("text", "a", text=fragment)
            await client.send("end", "a")
            await context.ended.wait()
            return context

    for context in by_each(workers, lambda _: asyncio.run(heard())):
        assert context.final["type"] == "done"
        assert context.samples > 0


def test_limits_of_keys_hold_over_all_processes(tmp_path: Path) -> None:
    limits = {"max_requests_a_minute_per_address": 5, "api_keys": [], "trusted_proxies": ["127.0.0.1/32"]}
    with server(tmp_path, workers=2, **limits) as workers:
        statuses = []
        for _ in range(9):
            with workers.client() as client:
                statuses.append(client.post(SPEECH, json=BODY, headers={"X-Forwarded-For": "203.0.113.7"}).status_code)
        assert sorted(statuses) == [200] * 5 + [429] * 4


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    """A server for tests that leave it changed."""
    with server(tmp_path_factory.mktemp("mortal"), workers=2) as running:
        yield running


class TestProcessesThatEnd:
    """They break what they were in the middle of, and are back."""

    def test_a_killed_process_of_doors_breaks_its_streams_alone_and_is_back(self, mortal: Workers) -> None:
        models, *doors = mortal.pids()
        listener = Listener(mortal, STREAMS)
        listener.wait()
        os.kill(doors[0], signal.SIGKILL)
        wait_for(lambda: len(mortal.pids()) == 3 and doors[0] not in mortal.pids(), seconds=10.0)
        ends = listener.ends()
        broken = [end for end in ends if end is not None]
        assert 0 < len(broken) < STREAMS, ends
        assert all(isinstance(error, httpx.RemoteProtocolError | httpx.ReadError) for error in broken)
        wait_for(lambda: mortal.metric("polyvox_active_sessions") == 0, seconds=10.0)
        assert models in mortal.pids()
        by_each(mortal, spoken)

    def test_doors_answer_503_while_the_models_are_started_again(self, mortal: Workers) -> None:
        models = mortal.pids()[0]
        listener = Listener(mortal, 2)
        listener.wait()
        os.kill(mortal.process.pid, signal.SIGSTOP)  # so that it starts nothing while we look
        try:
            os.kill(models, signal.SIGKILL)
            assert None not in listener.errors(), "a stream that lost its model must not end as if it were whole"
            for path in (SPEECH, "/v1/models"):
                with mortal.client() as client:
                    answer = spoken(client) if path == SPEECH else client.get(path)
                assert answer.status_code == 503
                assert int(answer.headers["retry-after"]) > 0
                assert "started again" in answer.json()["error"]["message"]
            with mortal.client() as client:
                assert client.get("/health").status_code == 200
        finally:
            os.kill(mortal.process.pid, signal.SIGCONT)
        wait_for(lambda: spoken(mortal.client()).status_code == 200, seconds=20.0)
        assert models not in mortal.pids()
        by_each(mortal, spoken)

    def test_all_processes_end_with_the_first(self, mortal: Workers) -> None:
        pids = mortal.pids()
        os.kill(mortal.process.pid, signal.SIGKILL)
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), seconds=20.0)


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
