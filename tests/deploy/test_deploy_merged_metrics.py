"""The metrics of several door processes as one exposition."""

from prometheus_client.parser import text_string_to_metric_families

from helpers.fakes import ToneEngine, tone_service
from polyvox.deploy.merged_metrics import LABEL, merged


def exposition(requests: int) -> str:
    service = tone_service(ToneEngine())
    for _ in range(requests):
        service.metrics.requested("openai", "tone")
    return service.metrics.render().decode()


def test_every_sample_of_every_process_is_there_once_and_each_family_is_described_once() -> None:
    parts = {"a": exposition(2), "b": exposition(3)}
    text = merged(parts).decode()
    heads = [line for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads))
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    series = {(sample.name, *sorted(sample.labels.items())) for sample in samples}
    assert len(series) == len(samples)
    for replica, part in parts.items():
        own = {
            (sample.name, *sorted({**sample.labels, LABEL: replica}.items()), sample.value)
            for family in text_string_to_metric_families(part)
            for sample in family.samples
        }
        assert own <= {(sample.name, *sorted(sample.labels.items()), sample.value) for sample in samples}


def test_a_counter_keeps_its_type_and_each_process_its_count() -> None:
    text = merged({"a": exposition(2), "b": exposition(3)}).decode()
    assert "# TYPE polyvox_requests_total counter" in text
    for replica, count in (("a", 2.0), ("b", 3.0)):
        assert f'polyvox_requests_total{{door="openai",model="tone",replica="{replica}"}} {count}' in text
