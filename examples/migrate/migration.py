"""Shared by the scripts of this folder: a Polyvox server, the calls of an old client, and a table of their answers."""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from polyvox.audio.decode import decode
from polyvox.bench.process import server_process

TIMEOUT = 300.0


@dataclass(frozen=True)
class Answer:
    """What a call was answered with; `rate` is that of samples without a header."""

    status: int | str
    kind: str
    body: bytes
    rate: int = 24_000

    @property
    def lacks(self) -> bool:
        """True if the server says that a model has to be installed for this call: 501, or gRPC's name for it."""
        return self.status in (501, "FAILED_PRECONDITION")

    @property
    def is_audio(self) -> bool:
        return self.kind.startswith("audio/")

    @property
    def sentence(self) -> str:
        """The words of an error, in whichever shape its API has it."""
        text = self.body[:2_000].decode(errors="replace")
        try:
            told = json.loads(text)
        except ValueError:
            return text[:300]
        told = told.get("detail") or told.get("error")
        return str(told.get("message") if isinstance(told, dict) else told)

    @property
    def seconds(self) -> float:
        """Seconds of sound in it."""
        if not self.is_audio or not self.body:
            return 0.0
        if self.kind.startswith(("audio/pcm", "audio/L16")):
            return len(self.body) / 2 / self.rate
        pcm, rate = decode(self.body, max_seconds=600, max_samples=100_000_000)
        return len(pcm) / rate


@dataclass(frozen=True)
class Call:
    """One call of an old client. `speaks`: whether it is answered with sound. `skip` says why it is not made."""

    name: str
    make: Callable[[], Answer]
    speaks: bool = True
    skip: str = ""


def parser(description: str | None, text: str = "Hello, world!") -> argparse.ArgumentParser:
    """The options of every script."""
    options = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    options.add_argument("--recording", type=Path, required=True, help="speech of 1 to 30 seconds, to clone")
    options.add_argument("--words", default="This is my voice sample.", help="what is said in the recording")
    options.add_argument("--text", default=text, help="what is to be said")
    options.add_argument("--url", help="a server that is running; without it one is started")
    return options


@contextmanager
def server(url: str | None, arguments: Sequence[str], **environment: str) -> Iterator[tuple[str, str]]:
    """The addresses for HTTP and for gRPC of the server at `url`, or of one that is started on free ports."""
    if url is not None:
        yield url, ""
        return
    shown = " ".join([*(f"{name}={value}" for name, value in environment.items()), "polyvox", *arguments])
    print(f"$ {shown}", flush=True)
    with server_process([*arguments, "--port", "0"], environment) as running:
        yield running.url, running.grpc


def http(method: str, address: str, **request: object) -> Answer:
    """Make a call with httpx."""
    answer = httpx.request(method, address, timeout=TIMEOUT, **request)  # type: ignore[arg-type]
    rate = int(answer.headers.get("X-Audio-Sample-Rate", 24_000))
    return Answer(answer.status_code, answer.headers.get("Content-Type", ""), answer.content, rate)


def curl(command: str, documented: str, url: str, files: Path) -> Answer:
    """Run a curl command as a document writes it, at `url` in place of the documented address, among `files`."""
    words = shlex.split(command.replace(documented, url))
    with tempfile.NamedTemporaryFile() as body:
        told = ["--silent", "--show-error", "--output", body.name, "--write-out", "%{http_code} %{content_type}"]
        if "--output" in words:
            place = words.index("--output")
            del words[place : place + 2]
        done = subprocess.run([*words, *told], cwd=files, capture_output=True, text=True, check=True)  # noqa: S603
        status, _, kind = done.stdout.partition(" ")
        return Answer(int(status), kind, Path(body.name).read_bytes())


def report(calls: Sequence[Call]) -> None:
    """Make the calls and print a table of them.

    Name what has to be installed for those that need another model. End the program with 1 where one failed.
    """
    width = max(len(call.name) for call in calls)
    print(f"{'call':{width}}  status  {'content type':26}  seconds  ok")
    failed, lacking = [], []
    for call in calls:
        if call.skip:
            print(f"{call.name:{width}}  {'-':6}  {call.skip}")
            continue
        answer = call.make()
        fine = answer.status in (200, "OK") and answer.is_audio == call.speaks and (answer.seconds > 0) == call.speaks
        ok = "yes" if fine else "needs a model" if answer.lacks else "NO"
        seconds = f"{answer.seconds:.2f}" if answer.is_audio else "-"
        print(f"{call.name:{width}}  {answer.status!s:6}  {answer.kind[:26]:26}  {seconds:>7}  {ok}")
        if not fine:
            (lacking if answer.lacks else failed).append((call.name, answer.sentence))
        sys.stdout.flush()
    for sentence in dict.fromkeys(sentence for _, sentence in lacking):
        print(f"{sum(said == sentence for _, said in lacking)} of {len(calls)} calls need a model. {sentence}")
    if failed:
        told = "\n".join(f"{name}: {sentence}" for name, sentence in failed)
        sys.exit(f"{len(failed)} of {len(calls)} calls failed.\n{told}")
