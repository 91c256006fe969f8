"""What an attack costs everybody else: how long `/health` takes meanwhile, and how much memory the server takes.

    with attacked_server(tmp_path) as server:
        with watched(server) as toll:
            ...  # the attack
        toll.check()

The probes run in a process of their own, so that an attacker's own work does not count as the server's.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from helpers import health_probe
from helpers.processes import ProgramProcess

MEMORY_LIMIT = 300 * 2**20
"""Bytes that any single client may add."""
HEALTH_LIMIT = 0.1
"""Seconds that `/health` may take at its 99th percentile, beyond what it takes on this machine without an attack."""
FEW_PROBES = 200
NOISE = 0.15
"""Seconds more where so few probes were made that their 99th percentile is one or two of them; not in `make attack`."""
STRICT = "TRIALS_STRICT"
"""The variable in the environment that `pytest --attack` sets."""
IDLE_SECONDS = 0.5


@dataclass
class Toll:
    """The figures of one attack; complete when its block has ended."""

    idle: list[float] = field(default_factory=list)
    during: list[float] = field(default_factory=list)
    before: int = 0
    peak: int = 0
    requests: int = 0
    """What the attack consisted of, where its trial counts it: requests, connections, kills."""

    @property
    def growth(self) -> int:
        """Bytes of resident memory that the server took at most."""
        return max(0, self.peak - self.before)

    @property
    def health(self) -> float:
        """Seconds of `/health`, 99th percentile during the attack."""
        return percentile(self.during)

    @property
    def allowed(self) -> float:
        noise = NOISE if len(self.during) < FEW_PROBES and STRICT not in os.environ else 0.0
        return HEALTH_LIMIT + percentile(self.idle) + noise

    def check(self, memory: int = MEMORY_LIMIT) -> None:
        """Fail where the attack cost others more than the limits."""
        print(json.dumps(self.figures()))
        assert self.growth <= memory, f"the server grew by {self.growth / 2**20:.0f} MB"
        assert self.health <= self.allowed, f"/health took {self.health:.3f} s, allowed were {self.allowed:.3f} s"

    def figures(self) -> dict[str, float]:
        return {
            "growth_mb": round(self.growth / 2**20, 1),
            "health_p99_ms": round(self.health * 1e3, 1),
            "health_idle_p99_ms": round(percentile(self.idle) * 1e3, 1),
            "probes": len(self.during),
            "requests": self.requests,
        }


@contextmanager
def watched(server: ProgramProcess) -> Iterator[Toll]:
    """Watch a server while the block attacks it; the server must be alive after it."""
    _probed_for(server, 0.0)  # the first request of a server takes longer than any other
    toll = Toll(idle=_probed_for(server, IDLE_SECONDS), before=server.memory())
    server.forget_peak()
    probe = _probe(server)
    try:
        yield toll
    finally:
        toll.during = _ended(probe)
        assert server.alive(), f"the server died: {server.log()[-2000:]}"
        toll.peak = server.peak_memory()


def percentile(seconds: list[float], share: float = 0.99) -> float:
    """The smallest of the values that at least this share does not exceed."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _probed_for(server: ProgramProcess, seconds: float) -> list[float]:
    probe = _probe(server)
    time.sleep(seconds)
    return _ended(probe)


def _probe(server: ProgramProcess) -> subprocess.Popen[bytes]:
    host, port = server.address
    command = [sys.executable, "-S", health_probe.__file__, host, str(port)]
    probe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert probe.stdout is not None
    probe.stdout.readline()  # it has begun
    return probe


def _ended(probe: subprocess.Popen[bytes]) -> list[float]:
    output, _ = probe.communicate(
        timeout=2 * health_probe.TIMEOUT
    )  # the end of its input ends it, after the probe under way
    seconds: list[float] = json.loads(output)
    assert seconds
    return seconds
