"""The benchmark of first audio through sockets, tried out with tones."""

import pytest

from benchmarks.realtime_first_audio import DOORS, PLAIN, measured, report
from helpers.fakes import ToneEngine, tone_service
from helpers.serving import served

pytestmark = pytest.mark.anyio


@pytest.mark.long
async def test_every_door_is_measured_in_turns() -> None:
    with served(tone_service(ToneEngine(delay=0.01))) as url:
        seconds = await measured(url, "high", 2, list(DOORS))
    assert {name: len(values) for name, values in seconds.items()} == dict.fromkeys(DOORS, 2)
    assert all(0.01 <= value < 5 for values in seconds.values() for value in values)


def test_the_report_compares_medians_with_the_plain_request() -> None:
    lines = report({PLAIN: [0.1, 0.2, 0.3], "quick": [0.2, 0.21, 9.0], "slow": [0.3, 0.3, 0.3]})
    assert lines[0].split() == [PLAIN, "p50", "200.0", "ms", "of", "3"]
    assert lines[1].endswith("210.0 ms of 3, 1.05 x")
    assert lines[2].endswith("300.0 ms of 3, 1.50 x (over)")
