"""Every setting that the chart can turn on, tried in the built image: `make image-matrix` prints the table.

Each row starts the image of `scripts/build_image.py` as `tests/helpers/image_container.py` says (user 10001, read-only
root, no capabilities) with one more setting, runs the image's own health check, and sends a request that only a server
with that setting answers so. It wants root, and for the rows that share something redis-server, PostgreSQL and weed.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

import grpc  # noqa: E402 - the path comes first
import httpx  # noqa: E402
import redis  # noqa: E402
import yaml  # noqa: E402
from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: E402

from helpers.client_environment import run_client  # noqa: E402
from helpers.image_container import ImageContainer, running_image  # noqa: E402
from helpers.shared_services import SharedServices, free_port, shared_services  # noqa: E402
from helpers.traces import Collector, collector  # noqa: E402
from helpers.wyoming import WyomingClient, audio_of  # noqa: E402

TAG = "localhost/polyvox:cpu"
KEY = "a-key-for-this-matrix"
LEAST_AUDIO_BYTES = 5_000
SECONDS = 60.0
JOBS = "/v1/jobs"
WITH_A_SIGNING_KEY = ("sh", "-c", "polyvox provenance init && exec polyvox serve")
CHART = ROOT / "deploy/helm/polyvox"


@dataclass(frozen=True, slots=True)
class Served:
    """A container of one row, and the settings that it was started with."""

    container: ImageContainer
    settings: Mapping[str, str]

    def client(self, key: str | None = KEY) -> httpx.Client:
        """A client of it; its own certificate is nobody's business here."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.container.url, headers=headers, timeout=SECONDS, verify=False)

    def speech(self, text: str = "Good morning.", key: str | None = KEY, **fields: str) -> httpx.Response:
        body = {"model": "wren", "input": text, "voice": "af_heart", "response_format": "pcm"} | fields
        with self.client(key) as client:
            return client.post("/v1/audio/speech", json=body)

    def speaks(self, text: str = "Good morning.", key: str | None = KEY, **fields: str) -> str:
        """Ask for speech, and say how much of it came."""
        answer = self.speech(text, key, **fields)
        assert answer.status_code == 200, answer.text
        assert len(answer.content) >= LEAST_AUDIO_BYTES, len(answer.content)
        return f"{len(answer.content) / 48_000:.1f} s of speech"


Probe = Callable[[Served], str]
"""Asks for what the setting gives, and says what came; `AssertionError` where something else did."""


@dataclass(frozen=True, slots=True)
class Row:
    """One setting, or those that belong together, with a request that shows it."""

    name: str
    settings: Mapping[str, str]
    probe: Probe
    command: Sequence[str] | None = None
    scheme: str = "http"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a row."""

    row: Row
    seen: str
    seconds: float
    failure: str = field(default="")


def asks_for_keys(served: Served) -> str:
    refused = served.speech(key=None).status_code
    assert refused == 401, refused
    return f"401 without a key, {served.speaks()} with it"


def answers_to_its_names(served: Served) -> str:
    with served.client(None) as client:
        foreign = client.get("/v1/models", headers={"Host": "elsewhere.example"}).status_code
    assert 400 <= foreign < 500, foreign
    return f"{foreign} by another name, {served.speaks(key=None)} by its own"


def speaks_by_both(served: Served) -> str:
    return ", ".join(f"{served.speaks(model=model)} by {model}" for model in ("wren", "kokoro"))


def limits_keys(served: Served) -> str:
    made = served.container.run("polyvox", "keys", "create", "app", "--characters-a-day", "20", "--json")
    assert made.returncode == 0, made.stderr
    key = json.loads(made.stdout)["key"]
    until = time.monotonic() + 10  # a running server reads the file about once a second
    while served.speech("Good day.", key).status_code == 401:
        assert time.monotonic() < until, "the new key is not known"
        time.sleep(0.2)
    beyond = served.speech("Good morning to all of you.", key)
    assert (beyond.status_code, beyond.json()["error"]["code"]) == (429, "quota_exceeded"), beyond.text
    assert int(beyond.headers["Retry-After"]) > 0
    return "a key made while it runs; beyond its characters 429, quota_exceeded, with Retry-After"


def shows_metrics(served: Served) -> str:
    served.speaks()
    with served.client() as client:
        lines = client.get("/metrics").text.splitlines()
    [line] = [
        line
        for line in lines
        if line.startswith("polyvox_requests_total{") and 'model="wren"' in line and line.endswith(" 1.0")
    ]
    return f"`{line.split('{')[0]}` is 1"


def shares_voices(services: SharedServices) -> Probe:
    def probe(served: Served) -> str:
        recording = served.speech("The tide is out, and the boats lie on the sand.", response_format="wav").content
        form = {"name": "Anna", "transcript": "The tide is out, and the boats lie on the sand.", "consent": "true"}
        with served.client() as client:
            made = client.post("/v1/voices", data=form, files={"audio": ("anna.wav", recording, "audio/wav")})
            assert made.status_code == 201, made.text
            listed = client.get("/v1/voices").json()
        assert made.json()["id"] in json.dumps(listed)
        objects = services.bucket.objects("matrix")
        assert len(objects) == 1, objects
        return f"a voice in PostgreSQL and one object in S3; {served.speaks()}"

    return probe


def counts_in_redis(url: str) -> Probe:
    def probe(served: Served) -> str:
        limited = limits_keys(served)
        found = redis.Redis.from_url(url).dbsize()
        assert found > 0, "nothing is in Redis"
        return f"{limited}; its count is in Redis"

    return probe


def sends_traces(received: Collector) -> Probe:
    def probe(served: Served) -> str:
        spoken = served.speaks()
        until = time.monotonic() + 30
        while "speech wren" not in {span.name for span in received.spans}:
            assert time.monotonic() < until, [span.name for span in received.spans]
            time.sleep(0.2)
        return f"{spoken}; the collector has the span `speech wren`"

    return probe


def answers_grpc(served: Served) -> str:
    with grpc.insecure_channel(f"127.0.0.1:{served.settings['POLYVOX_GRPC_PORT']}") as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=SECONDS)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING, answer
    return f"gRPC health SERVING; {served.speaks()}"


def offers_tools(served: Served) -> str:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "matrix", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    with served.client() as client:
        answer = client.post("/mcp", json=message, headers={"Accept": "application/json, text/event-stream"})
    assert answer.status_code == 200, answer.text
    assert '"tools"' in answer.text, answer.text
    return f"/mcp offers tools; {served.speaks()}"


def speaks_wyoming(served: Served) -> str:
    async def spoken() -> bytes:
        port = int(served.settings["POLYVOX_WYOMING_PORT"])
        async with WyomingClient(*await asyncio.open_connection("127.0.0.1", port)) as client:
            await client.send("synthesize", text="Good morning.")
            return audio_of(await client.read_until("audio-stop"))

    audio = asyncio.run(spoken())
    assert len(audio) >= LEAST_AUDIO_BYTES
    return f"{len(audio) / 48_000:.1f} s of speech by Wyoming, {served.speaks()} by HTTP"


def signs_speech(served: Served) -> str:
    spoken = served.speech()
    with served.client() as client:
        signed = client.get(spoken.links["describedby"]["url"]).json()
    assert signed["manifest"]["complete"] is True, signed
    assert len(signed["signature"]) > 60, signed
    return "the answer links to its signed manifest"


def caches_speech(served: Served) -> str:
    first, second = served.speech(), served.speech()
    assert first.content == second.content
    files = served.container.run("find", "/data", "-path", "*cache*", "-type", "f").stdout.split()
    assert len(files) == 1, files
    return "the second answer is the first, byte for byte; it is a file under /data"


def logs_to_files(served: Served) -> str:
    served.speaks()
    lines = {name: served.container.run("cat", f"/data/{name}").stdout.count("\n") for name in ("log", "chunks.jsonl")}
    assert all(lines.values()), lines
    return "lines in /data/log, and one for each chunk in /data/chunks.jsonl"


def narrates(served: Served) -> str:
    with served.client() as client:
        made = client.post(JOBS, json={"model": "wren", "text": "Good morning. And good night.", "voice": "af_heart"})
        assert made.status_code == 202, made.text
        until, path = time.monotonic() + SECONDS, f"{JOBS}/{made.json()['id']}"
        while (job := client.get(path).json())["status"] not in ("done", "failed"):
            assert time.monotonic() < until, job
            time.sleep(0.2)
    assert job["status"] != "failed", job
    return f"a job is {job['status']}; its files are on /data"


def keeps_nothing(served: Served) -> str:
    with served.client() as client:
        refused = client.post(JOBS, json={"text": "Good morning."})
    assert 400 <= refused.status_code < 600, refused.text
    return f"{refused.status_code} for a job; {served.speaks()}"


def says(text: str, **fields: str) -> Probe:
    return lambda served: served.speaks(text, **fields)


def opens_both_ports(served: Served) -> str:
    return f"{answers_grpc(served)}; {speaks_wyoming(served)}"


def chart_variables(values: Sequence[Mapping[str, object]]) -> list[dict[str, str]]:
    """The variables of the pod that the chart makes of each values; keys come by a Secret."""
    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder) / "cases.json"
        given = [{**each, "secret": {"existingName": "polyvox"}} for each in values]
        cases.write_text(json.dumps({"values": given, "manifests": []}))
        made = run_client("charts", "chart_render.py", CHART, ROOT / "tests/golden/crds", cases)["values"]
    found = []
    for rendering in made:
        assert "refused" not in rendering, rendering["refused"]
        [deployment] = [each for each in rendering["resources"] if each["kind"] == "Deployment"]
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        found.append({variable["name"]: variable["value"] for variable in container["env"]})
    return found


def rows(services: SharedServices, redis_url: str, received: Collector) -> list[Row]:
    """The matrix. Every setting of `polyvox.extras` that needs an extra of the image is in it; a test sees to that."""
    shared = {
        f"POLYVOX_{name}".upper(): value for name, value in services.settings(services.fresh_database("matrix")).items()
    }
    ports = {name: {"enabled": True, "port": free_port()} for name in ("grpc", "wyoming")}
    several = yaml.safe_load((CHART / "values-cluster.yaml").read_text(encoding="utf-8"))
    several["ingress"]["host"] = "speech.example"
    defaults, opened, cluster = chart_variables([{}, {"service": ports}, several])
    wyoming = {"POLYVOX_WYOMING_PORT": str(free_port()), "POLYVOX_WYOMING_ALLOW_WITHOUT_KEY": "true"}
    logs = {"POLYVOX_LOG_FILE": "/data/log", "POLYVOX_CHUNK_LOG": "/data/chunks.jsonl"}
    cache = {"POLYVOX_SPEECH_CACHE_BYTES": "10000000", "POLYVOX_SPEECH_CACHE_FOLDER": "/data/speech-cache"}
    return [
        Row("`api_keys`", {}, asks_for_keys),
        Row("`allowed_hosts`", {"POLYVOX_API_KEYS": "", "POLYVOX_ALLOWED_HOSTS": "localhost"}, answers_to_its_names),
        Row("`models`: wren, kokoro", {}, speaks_by_both),
        Row("keys with quotas (`polyvox keys`)", {}, limits_keys),
        Row("`/metrics` with a key", {}, shows_metrics),
        Row("`voice_database`, `voice_objects`", shared, shares_voices(services)),
        Row("`limits_url`", {"POLYVOX_LIMITS_URL": redis_url}, counts_in_redis(redis_url)),
        Row("`otlp_endpoint`", {"POLYVOX_OTLP_ENDPOINT": received.url}, sends_traces(received)),
        Row("`server`: granian", {"POLYVOX_SERVER": "granian"}, asks_for_keys),
        Row("`serve --tls auto`", {}, asks_for_keys, ("polyvox", "serve", "--tls", "auto"), "https"),
        Row("`grpc_port`", {"POLYVOX_GRPC_PORT": str(free_port())}, answers_grpc),
        Row("`mcp`", {"POLYVOX_MCP": "true"}, offers_tools),
        Row("`wyoming_port`, `wyoming_mdns`", wyoming | {"POLYVOX_WYOMING_MDNS": "true"}, speaks_wyoming),
        Row("`espeak`", {"POLYVOX_ESPEAK": "espeak-ng"}, says("Buenos días a todos.", model="kokoro", voice="ef_dora")),
        Row("Japanese", {}, says("おはようございます。", model="kokoro", voice="jf_alpha")),
        Row("`provenance`: signed", {"POLYVOX_PROVENANCE": "signed"}, signs_speech, WITH_A_SIGNING_KEY),
        Row("`speech_cache_bytes`", cache, caches_speech),
        Row("`log_file`, `chunk_log`", logs, logs_to_files),
        Row("`max_jobs`", {}, narrates),
        Row("the chart's defaults", defaults, asks_for_keys),
        Row("the chart's `service.grpc`, `service.wyoming`", opened, opens_both_ports),
        Row("the chart's `values-cluster.yaml`", cluster, keeps_nothing),
    ]


def tried(row: Row, tag: str) -> Outcome:
    """Start the image for a row, ask its health check, probe it, and stop it."""
    settings = {"POLYVOX_API_KEYS": KEY, **row.settings, "POLYVOX_PORT": str(free_port())}
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory() as folder:
            # Others may look into it: the container's user does not own it.
            Path(folder).chmod(0o755)
            with running_image(tag, Path(folder), settings, row.command, scheme=row.scheme) as container:
                _, *check = container.configuration.healthcheck
                healthy = container.run(*check)
                assert healthy.returncode == 0, f"the health check fails: {healthy.stderr}"
                seen = row.probe(Served(container, settings))
                status = container.stop(60)
                assert status == 0, f"it ends with {status}"
    except (AssertionError, httpx.HTTPError, grpc.RpcError, subprocess.SubprocessError, OSError) as error:
        return Outcome(row, "", time.monotonic() - began, f"{type(error).__name__}: {error}")
    return Outcome(row, seen, time.monotonic() - began)


@contextmanager
def running_redis() -> Iterator[str]:
    """A Redis on loopback that keeps nothing."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = ["redis-server", "--port", str(port), "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            yield f"redis://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def matrix(tag: str = TAG, only: str = "") -> Iterator[Outcome]:
    """Try every row whose name has `only` in it, one after another."""
    with ExitStack() as running:
        services = running.enter_context(shared_services())
        url = running.enter_context(running_redis())
        received = running.enter_context(collector())
        for row in rows(services, url, received):
            if only in row.name:
                yield tried(row, tag)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", default=TAG)
    parser.add_argument("--only", default="", help="rows with this in their name")
    arguments = parser.parse_args()
    print("| setting | seen in the image |\n|---|---|", flush=True)
    failures = 0
    for outcome in matrix(arguments.image, arguments.only):
        failures += bool(outcome.failure)
        print(f"| {outcome.row.name} | {outcome.failure or outcome.seen} |", flush=True)
        print(f"{outcome.row.name}: {outcome.seconds:.0f} s", file=sys.stderr, flush=True)
    sys.exit(f"{failures} rows fail" if failures else 0)


if __name__ == "__main__":
    main()
