"""A real PostgreSQL and a real S3 server for the tests of the shared voice store, each in a folder of its own."""

import io
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
import urllib3
from minio import Minio
from minio.error import MinioException

ACCESS, SECRET, BUCKET = "trial", "trial-secret", "voices"
START_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def need(program: Path | str | None, name: str) -> str:
    """The program, or the end of this test; where the tests must not be skipped, its failure."""
    if program is None:
        message = f"{name} is not installed"
        if os.environ.get("STORE_TESTS") == "required":
            pytest.fail(message)
        pytest.skip(message)
    return str(program)


def postgres_program(name: str) -> str:
    """A program of PostgreSQL, which Debian leaves out of the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return need(shutil.which(name) or (found[-1] if found else None), "PostgreSQL")


def weed_program() -> str:
    beside = Path(sys.executable).parent / "weed"
    return need(beside if beside.exists() else shutil.which("weed"), "SeaweedFS")


def other_user() -> str | None:
    """A user for PostgreSQL, which refuses to run as root; None where this process is not root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@dataclass
class Postgres:
    """A database server on loopback. It may be killed, stopped in its tracks and started again."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://polyvox@127.0.0.1:{self.port}/postgres"

    def initialise(self) -> None:
        user = other_user()
        if user is not None:
            shutil.chown(self.folder, user)
        program = [postgres_program("initdb"), "-D", str(self.folder / "data"), "-U", "polyvox", "-A", "trust"]
        program += ["--no-sync", "--locale=C", "--encoding=UTF8"]
        subprocess.run(program, check=True, capture_output=True, user=user, cwd=self.folder)

    def start(self) -> None:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
            "fsync": "off",  # nobody pulls the plug of this machine
            "max_connections": "60",
            "shared_buffers": "16MB",
        }
        program = [postgres_program("postgres"), "-D", str(self.folder / "data")]
        program += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self.folder.parent / "postgres.log").open("ab") as log:
            self.process = subprocess.Popen(program, user=other_user(), stdout=log, stderr=log, cwd=self.folder)

    def wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
            except psycopg.OperationalError:
                assert time.monotonic() < until
                time.sleep(0.05)
            else:
                return

    def signal(self, number: int) -> None:
        """Send a signal to the server and all its children, which answer the connections."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in (self.process.pid, *map(int, children)):
            os.kill(pid, number)

    def kill(self) -> None:
        assert self.process is not None
        self.signal(signal.SIGKILL)
        self.process.wait()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def execute(self, statement: str) -> list[Any]:
        with psycopg.connect(self.url, autocommit=True) as db:
            found = db.execute(statement.encode())
            return found.fetchall() if found.description else []


@dataclass
class Bucket:
    """An S3 server on loopback with one bucket."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def client(self) -> Minio:
        pool = urllib3.PoolManager(timeout=5, retries=False)
        return Minio(f"127.0.0.1:{self.port}", ACCESS, SECRET, secure=False, region="us-east-1", http_client=pool)

    def start(self) -> None:
        keys = [{"accessKey": ACCESS, "secretKey": SECRET}]
        actions = ["Admin", "Read", "Write", "List"]
        identities = {"identities": [{"name": "trial", "credentials": keys, "actions": actions}]}
        (self.folder / "s3.json").write_text(json.dumps(identities))
        options = {
            "dir": str(self.folder),
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            "volume.max": "8",
            "master.volumeSizeLimitMB": "64",
            "s3.port": str(self.port),
            "s3.port.iceberg": "0",
            "s3.autoCreateBucket": "false",
            "s3.config": str(self.folder / "s3.json"),
        }
        for part in ("master", "volume", "filer"):
            options |= {f"{part}.port": str(free_port()), f"{part}.port.grpc": str(free_port())}
        options["s3.port.grpc"] = str(free_port())
        program = [weed_program(), "server", "-s3", *(f"-{name}={value}" for name, value in options.items())]
        with (self.folder.parent / "weed.log").open("ab") as log:
            self.process = subprocess.Popen(program, stdout=log, stderr=log, cwd=self.folder)

    def wait(self) -> None:
        """Wait until the bucket is there and takes objects."""
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                if not self.client.bucket_exists(BUCKET):
                    self.client.make_bucket(BUCKET)
                self.client.put_object(BUCKET, "started", io.BytesIO(b"x"), 1)
                self.client.remove_object(BUCKET, "started")
            except (MinioException, urllib3.exceptions.HTTPError):
                assert time.monotonic() < until
                time.sleep(0.1)
            else:
                return

    def objects(self, prefix: str) -> set[str]:
        """The keys under a prefix."""
        found = self.client.list_objects(BUCKET, prefix=f"{prefix}/", recursive=True)
        return {entry.object_name.removeprefix(f"{prefix}/").removesuffix(".wav") for entry in found}


@dataclass(frozen=True)
class SharedServices:
    """A database server and a bucket, and settings that lead to them."""

    postgres: Postgres
    bucket: Bucket

    def settings(self, database: str, **others: Any) -> dict[str, Any]:
        """Settings of a server that keeps its voices in this database and under this prefix."""
        return {
            "voice_database": f"{self.postgres.url.removesuffix('postgres')}{database}",
            "voice_objects": f"s3://{BUCKET}/{database}",
            "voice_objects_endpoint": self.bucket.endpoint,
            "voice_objects_access_key": ACCESS,
            "voice_objects_secret_key": SECRET,
            **others,
        }

    def fresh_database(self, name: str) -> str:
        self.postgres.execute(f"CREATE DATABASE {name}")
        return name


@contextmanager
def shared_services() -> Iterator[SharedServices]:
    """Both servers, started side by side."""
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="shared-store-")))
        folder.chmod(0o755)
        for part in ("postgres", "weed"):
            (folder / part).mkdir()
        bucket, postgres = Bucket(folder / "weed"), Postgres(folder / "postgres")
        running.callback(lambda: [stop(part.process) for part in (bucket, postgres)])
        bucket.start()
        postgres.initialise()
        postgres.start()
        postgres.wait()
        bucket.wait()
        yield SharedServices(postgres, bucket)


def stop(process: subprocess.Popen[bytes] | None) -> None:
    if process is None or process.poll() is not None:
        return
    process.kill()  # nothing that it has is needed any more
    process.wait()
