"""The benchmark of the host's share: the engine of a GPU speaks whole texts through a network that only waits."""

import sys

import pytest

pytest.importorskip("torch")
if sys.platform != "linux":
    pytest.skip("CPU time of other processes is read from /proc", allow_module_level=True)

from benchmarks.kokoro_host import measure

pytestmark = [pytest.mark.anyio, pytest.mark.long]


@pytest.mark.parametrize("workers", [0, 1])
async def test_a_row_has_the_cpu_time_of_this_process_and_of_the_others(workers, capsys):
    await measure("wren", workers, streams=4, rounds=3, speed=2_000.0)
    count, own, theirs, per_second, first, audio = map(float, capsys.readouterr().out.split())
    assert count == workers
    assert own > 0
    assert (theirs > 0) == (workers > 0)
    assert 140 < audio < 200, "twelve texts of about 14 s"
    assert per_second > 0 < first
