"""Which streams an engine can serve without a gap for any of them."""

from helpers.tables import each_row
from polyvox.service.admission.playing_streams import PlayingStream, all_keep_playing, has_room

LONG = 60.0


@each_row(
    ("streams", "capacity", "expected"),
    [
        ([(0, LONG)], 1.0, True),
        ([(0, LONG)], 0.9, False),
        ([(0, LONG), (0, LONG)], 1.9, False),
        ([(0, LONG), (0, LONG)], 2.0, True),
        ([(5, LONG), (0, 1)], 1.1, True),
        ([(0.1, LONG), (0, 1)], 1.1, False),
        ([(5, LONG), (0, LONG)], 1.9, False),
        ([(5, 2), (0, 5)], 1.5, True),
        ([(-1, LONG)], 1.01, False),
    ],
)
def test_what_is_needed_by_any_moment_can_be_made_by_then(streams, capacity, expected):
    assert all_keep_playing([PlayingStream(*stream) for stream in streams], capacity) is expected


@each_row("capacity", [1.1, 1.5, 2.5])
def test_serving_the_most_urgent_first_bears_the_forecast_out(capacity):
    """By small steps: each goes to the stream whose audio ends first."""
    for other in (0.0, 2.0, 6.0, 20.0):
        ahead, left = [other, 0.0], [30.0, 5.0]
        streams = [PlayingStream(*pair) for pair in zip(ahead, left, strict=True)]
        gap, step = 0.0, 0.01
        while any(rest > 0 for rest in left):
            urgent = min((i for i in range(2) if left[i] > 0), key=lambda i: ahead[i])
            made = min(left[urgent], capacity * step)
            left[urgent] -= made
            ahead[urgent] += made
            ahead = [lead - step for lead in ahead]
            gap = max(gap, *(-lead for lead, rest in zip(ahead, left, strict=True) if rest > 0), 0.0)
        assert (gap <= 2 * step) is all_keep_playing(streams, capacity)


@each_row(
    ("streams", "size", "lead", "expected"),
    [
        ([], LONG, 10.0, True),
        ([(5, LONG)], 2.0, 5.0, True),
        ([(5, LONG)], 2.0, 5.1, False),  # too little ahead to wait for the new one
        ([(5, LONG), (5, LONG)], LONG, 1.0, False),  # more than the engine can keep playing
    ],
)
def test_a_new_stream_has_room_when_the_others_have_their_lead_and_all_can_be_served(streams, size, lead, expected):
    assert has_room([PlayingStream(*stream) for stream in streams], size, lead, 2.5) is expected
