"""An image that buildah built, run as its own configuration says: its user, its entry point, its root read-only.

`unshare` stands for the container runtime: own process, mount and IPC namespaces, no new privileges, no capabilities,
only /data and /tmp writable. The network is the machine's own, and nothing limits memory or CPU.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

UNSHARE = ("unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child")
DEVICES = ("null", "zero", "full", "random", "urandom")


@dataclass(frozen=True, slots=True)
class ImageConfiguration:
    """What the image says of itself."""

    user: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    healthcheck: list[str]
    labels: dict[str, str]

    @classmethod
    def of(cls, tag: str) -> "ImageConfiguration":
        """Read it from the local storage of images."""
        found: dict[str, Any] = json.loads(_output("buildah", "inspect", "--type", "image", tag))["Docker"]["config"]
        return cls(
            found["User"],
            found["Entrypoint"] + found["Cmd"],
            dict(pair.split("=", 1) for pair in found["Env"]),
            found["WorkingDir"],
            found["Healthcheck"]["Test"],
            found["Labels"],
        )


@dataclass(frozen=True, slots=True)
class ImageContainer:
    """A container that runs: the server's address, where its output goes, and `unshare`, which ends with it."""

    url: str
    log: Path
    tree: Path
    configuration: ImageConfiguration
    process: "subprocess.Popen[bytes]"

    @property
    def pid(self) -> int:
        """The server's process on this machine; inside it is process 1."""
        return int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0])

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command inside, as the image's user."""
        enter = ["nsenter", f"--target={self.pid}", "--mount", "--pid", "--ipc", "--uts", "--root", "--wd"]
        words = [*enter, *_as_user(self.configuration.user), *command]
        environment = _environment(self.pid)
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=environment)

    def stop(self, seconds: float) -> int:
        """Send what `docker stop` sends, and return the exit status."""
        os.kill(self.pid, signal.SIGTERM)
        return self.process.wait(seconds)

    def resident_bytes(self) -> int:
        """Memory of all its processes."""
        return sum(_resident(pid) for pid in _family(self.pid))


@contextlib.contextmanager
def running_image(
    tag: str,
    folder: Path,
    environment: Mapping[str, str],
    command: Sequence[str] | None = None,
    wait: bool = True,
    scheme: str = "http",
) -> Iterator[ImageContainer]:
    """Run the image's entry point, or another command; yields when the server is ready, if it is to be waited for."""
    configuration = ImageConfiguration.of(tag)
    container = _output("buildah", "from", "--pull-never", tag)
    try:
        tree, data, log = Path(_output("buildah", "mount", container)), folder / "data", folder / "output.log"
        data.mkdir()
        os.chown(data, *map(int, configuration.user.split(":")))
        script = _script(configuration, tree, data, command)
        variables = configuration.environment | dict(environment)
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*UNSHARE, "sh", "-euc", script], stdout=output, stderr=subprocess.STDOUT, env=variables
            )
        url = f"{scheme}://127.0.0.1:{environment.get('POLYVOX_PORT', '8880')}"
        started = ImageContainer(url, log, tree, configuration, process)
        try:
            if wait:
                _wait_until_ready(started)
            yield started
        finally:
            process.kill()
            process.wait(30)
    finally:
        _output("buildah", "rm", container)


def _script(configuration: ImageConfiguration, tree: Path, data: Path, command: Sequence[str] | None) -> str:
    """Shell commands that make the container's file system and become its process 1."""
    root = shlex.quote(str(tree))
    arguments = configuration.arguments if command is None else list(command)
    enter = f"cd {shlex.quote(configuration.folder)} && exec {shlex.join([*_as_user(configuration.user), *arguments])}"
    lines = [
        f"mount --bind {root} {root}",
        f"mount -t proc proc {root}/proc",
        f"mount -t sysfs -o ro sysfs {root}/sys",
        f"mount -t tmpfs -o nosuid,mode=755 tmpfs {root}/dev",
        *(f"touch {root}/dev/{name} && mount --bind /dev/{name} {root}/dev/{name}" for name in DEVICES),
        f"mkdir {root}/dev/shm && mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs {root}/dev/shm",
        f"mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs {root}/tmp",
        f"mount --bind {shlex.quote(str(data))} {root}/data",
        f"mount -o remount,bind,ro {root}",
        f"exec /usr/sbin/chroot {root} /bin/sh -euc {shlex.quote(enter)}",
    ]
    return "export PATH=$PATH:/usr/sbin:/sbin\n" + "\n".join(lines)


def _as_user(user: str) -> list[str]:
    number, group = user.split(":")
    drop = ["--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    return ["/usr/bin/setpriv", f"--reuid={number}", f"--regid={group}", *drop, "--"]


def _environment(pid: int) -> dict[str, str]:
    pairs = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def _family(pid: int) -> list[int]:
    """A process and all its descendants."""
    try:
        children = [
            int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()
        ]
    except OSError:
        return []
    return [pid, *(member for child in children for member in _family(child))]


def _resident(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS:"))


def _wait_until_ready(container: ImageContainer, seconds: float = 180.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert container.process.poll() is None, container.log.read_text()
        with contextlib.suppress(httpx.TransportError):
            # A certificate that it made for itself is as good as any here.
            if httpx.get(f"{container.url}/ready", verify=False).status_code == 200:
                return
        time.sleep(0.2)
    raise AssertionError(f"not ready in {seconds:.0f} s: {container.log.read_text()}")


def _output(*command: str) -> str:
    return subprocess.check_output(command, text=True).strip()
