"""The metrics of the last minutes, in snapshots."""

import pytest

from helpers.fakes import tone_service
from helpers.serving import called, error_of
from polyvox.errors import OverloadedError, UnknownVoiceError
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.telemetry.recent_counts import INTERVAL_SECONDS, KEPT_SECONDS, SERIES, RecentCounts


def test_snapshots_hold_the_sums_by_cause_at_their_moment() -> None:
    metrics = Metrics()
    times = iter([0.0, 10.0, 12.5])
    recent = RecentCounts(metrics.registry, lambda: next(times))
    metrics.requested("openai", "a")
    recent.take()
    metrics.requested("cartesia", "b")
    metrics.failed(UnknownVoiceError("no such voice"))
    metrics.failed(OverloadedError("full", retry_after=1))
    metrics.first_audio("a", 0.3)
    recent.take()
    first, second = recent.public()
    assert (first["age"], second["age"]) == (12.5, 2.5)
    assert set(first["sums"]) == set(SERIES)
    assert first["sums"]["polyvox_requests_total"] == {"": 1}
    assert first["sums"]["polyvox_failures_total"] == {}
    assert second["sums"]["polyvox_requests_total"] == {"": 2}
    assert second["sums"]["polyvox_failures_total"] == {"voice_not_found": 1, "overloaded": 1}
    assert sum(second["sums"]["polyvox_refused_total"].values()) == 1
    buckets = second["sums"]["polyvox_time_to_first_audio_seconds_bucket"]
    assert (buckets["0.2"], buckets["0.3"], buckets["+Inf"]) == (0, 1, 1)


def test_no_more_is_kept_than_five_minutes() -> None:
    recent = RecentCounts(Metrics().registry)
    for _ in range(100):
        recent.take()
    assert len(recent.public()) == KEPT_SECONDS / INTERVAL_SECONDS + 1


@pytest.mark.anyio
async def test_the_snapshots_are_for_those_who_may_read_the_metrics() -> None:
    service = tone_service(api_keys=["a key"])
    service.metrics.recent.take()
    async with called(service) as client:
        refused = await client.get("/metrics/recent")
        answer = await client.get("/metrics/recent", headers={"Authorization": "Bearer a key"})
    assert (refused.status_code, error_of(refused)["code"]) == (401, "invalid_api_key")
    assert [set(each) for each in answer.json()["data"]] == [{"age", "sums"}]
