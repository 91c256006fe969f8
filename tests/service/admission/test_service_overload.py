"""The trials of admission in virtual time: what callers hear of a server that has too much to do."""

import pytest

from benchmarks.admission_rules import RULES
from benchmarks.admission_trials import PLAIN, TRIALS, Figures


def figures(name: str) -> Figures:
    return TRIALS[name].run()[0]


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    ["overload", "overload, in pieces", "overload, one floods", "overload, one client", "overload, pages"],
)
def test_who_is_admitted_is_heard_in_time_and_hardly_anyone_waits_in_vain(name: str) -> None:
    found = figures(name)
    assert found["in time"] >= 0.95
    assert found["in vain"] <= 0.01 * found["asked"]
    assert found["audio a second"] >= 0.95 * PLAIN.capacity, "the engine is kept busy"
    assert found["with a gap"] <= 0.02
    assert found["least share"] >= 0.5, "clients have equal shares"


def test_texts_that_arrive_are_admitted_by_the_same_forecast_as_others() -> None:
    for name in ("overload, some texts arrive", "overload, in pieces, some texts arrive"):
        found = figures(name)
        assert found["in time"] >= 0.95, name
        assert found["in vain"] <= 0.01 * found["asked"], name
        assert 0.15 <= found["arrived"] <= 0.35, "a quarter of those who ask is about a quarter of those heard"
        assert found["silence"] <= 0.01, name
        assert found["audio a second"] >= 0.9 * PLAIN.capacity, "the engine is kept busy"


def test_hardly_anyone_is_refused_below_the_limit() -> None:
    found = figures("below the limit")
    assert (found["refused"], found["in vain"], found["in time"]) == (0, 0, 1.0)


def test_sixteen_who_can_be_heard_in_time_are_also_after_a_burst_of_pages() -> None:
    found = figures("after a burst of pages")
    assert found["heard"] >= 0.95 * 48
    assert (found["in time"], found["with a gap"]) == (1.0, 0.0)


def test_the_first_streams_of_a_fresh_server_have_no_gap() -> None:
    for name in ("fresh server", "fresh server, at once"):
        found = figures(name)
        assert (found["heard"], found["with a gap"]) == (found["asked"], 0.0), name


@pytest.mark.long
def test_a_flood_of_one_client_delays_the_first_audio_of_another_little() -> None:
    for name in ("flood of sentences", "flood of pages"):
        found = figures(name)
        assert found["heard"] == 16, name
        assert found["of idle"] < 1.6, name


def test_a_short_request_interrupts_long_streams_without_a_gap() -> None:
    found = figures("interruption")
    assert found["first audio p95"] < 0.5
    assert found["with a gap of reader"] == 0.0


def test_live_requests_are_heard_at_once_beside_background_jobs_which_go_on() -> None:
    for name in ("background jobs", "background jobs, batching", "background jobs, few slots"):
        found = figures(name)
        assert found["first audio p95"] < 0.5, name
        assert found["with a gap of live"] == 0.0, name
        assert found["batch beside live"] > 50.0, name


def test_readers_that_stall_are_dropped_for_those_who_wait() -> None:
    found = figures("stalled readers")
    assert (found["heard"], found["refused"]) == (4, 0)
    assert found["dropped"] > 0


def test_streams_play_on_when_half_of_the_cores_are_taken_away() -> None:
    found = figures("cores taken away")
    assert found["in time"] >= 0.9
    assert found["silence"] < 0.001


def test_few_streams_have_gaps_where_cores_are_taken_away_for_seconds_again_and_again() -> None:
    found = figures("cores come and go")
    assert found["heard"] > 400
    assert found["in time"] >= 0.95
    assert found["with a gap"] < 0.05


def test_whoever_comes_back_when_told_is_mostly_admitted_then() -> None:
    found = figures("return when told")
    assert found["heard"] == 120
    assert found["times asked"] < 2.0


def test_others_find_a_place_in_a_queue_that_one_client_has_filled() -> None:
    assert figures("full queue")["heard"] == 3


def test_a_trial_makes_the_same_decisions_each_time() -> None:
    first, second = (TRIALS["flood of pages"].run()[1] for _ in range(2))
    assert first.log == second.log


@pytest.mark.long
def test_every_rule_changes_the_trial_of_the_problem_that_it_solves() -> None:
    with_all = {name: figures(name) for name in {rule.trial for rule in RULES.values()}}
    for name, rule in RULES.items():
        without, _ = rule.run_without()
        assert any(without[figure] != with_all[rule.trial][figure] for figure in rule.figures), name
