"""The trial of streams beside unfortunate ones, with tiny networks on a CPU."""

import pytest

pytest.importorskip("torch")

from benchmarks.stream_faults import HEADER, arguments, run

pytestmark = pytest.mark.anyio
SMALL = "--tiny --device cpu --at-once 4 --utterance-seconds 2 --prompt-seconds 1 --flow-bytes 40000".split()


@pytest.mark.long
async def test_others_speak_on_as_if_undisturbed():
    said = []
    rounds = {each.name: each for each in await run(arguments().parse_args(SMALL), said.append)}
    assert said[0] == HEADER
    assert (rounds["again"].whole, rounds["again"].same) == (4, 4)
    assert (rounds["some cancelled"].cancelled, rounds["some cancelled"].same) == (1, 3)
    assert (rounds["one broken"].broken, rounds["one broken"].same) == (1, 3)
    assert rounds["after the broken"].same == 4
    assert (rounds["memory exhausted"].whole, rounds["memory exhausted"].same) == (4, 4)
