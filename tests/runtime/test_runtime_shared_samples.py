"""Memory that processes share: places that nobody else has, as long as somebody holds them."""

import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is shared by Linux's memfd only")

if sys.platform == "linux":
    from polyvox.runtime.text_workers.shared_samples import SharedSamples, opened_samples


@pytest.fixture
def memory():
    shared = SharedSamples(1_000)
    yield shared
    shared.close()


def test_places_do_not_overlap_and_end_where_the_memory_does(memory):
    places = [memory.reserve(300) for _ in range(3)]
    assert memory.reserve(300) is None
    for number, place in enumerate(places):
        place.samples[:] = number
    assert [set(place.samples.tolist()) for place in places] == [{0.0}, {1.0}, {2.0}]
    assert len(memory.reserve(100).span) == 100


def test_what_nobody_holds_is_given_again_as_one_piece(memory):
    places = [memory.reserve(250) for _ in range(4)]
    assert memory.reserve(1) is None
    del places[1], places[1]
    assert memory.reserve(501) is None
    middle = memory.reserve(500)
    assert (middle.span.start, middle.span.end) == (250, 750)


def test_a_place_is_released_once(memory):
    place = memory.reserve(1_000)
    place.release()
    other = memory.reserve(1_000)
    place.release()
    del place
    assert memory.reserve(1) is None
    assert len(other.samples) == 1_000


def test_any_order_of_taking_and_dropping_leaves_all_of_it_free(memory):
    draws = np.random.default_rng(1)
    held = []
    for _ in range(500):
        if held and draws.random() < 0.5:
            del held[draws.integers(len(held))]
        elif (place := memory.reserve(int(draws.integers(1, 200)))) is not None:
            assert all(place.span.end <= each.span.start or each.span.end <= place.span.start for each in held)
            held.append(place)
    held.clear()
    assert len(memory.reserve(1_000).span) == 1_000


def test_another_process_reads_and_writes_the_same_samples(memory):
    place = memory.reserve(4)
    place.samples[:] = [1, 2, 3, 4]
    program = (
        "import sys; from polyvox.runtime.text_workers.shared_samples import opened_samples;"
        "samples = opened_samples(sys.argv[1]); samples[:4] *= 2"
    )
    subprocess.run([sys.executable, "-c", program, memory.path], check=True, timeout=60)
    assert place.samples.tolist() == [2, 4, 6, 8]


def test_samples_outlive_the_end_of_what_opened_them(memory):
    place, seen = memory.reserve(4), opened_samples(memory.path)
    memory.close()
    memory.close = lambda: None
    place.samples[:] = 7
    assert seen[:4].tolist() == [7, 7, 7, 7]
