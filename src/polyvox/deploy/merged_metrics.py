"""The metrics of several door processes as one exposition."""

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

LABEL = "replica"


class _Families(Collector):
    def __init__(self, families: Mapping[str, Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families.values()


def merged(expositions: Mapping[str, str]) -> bytes:
    """Every sample of every process, told apart by the label `replica`.

    They are not summed: each counter keeps its own resets, and a gauge such as a limit has no meaningful sum.
    """
    families: dict[str, Metric] = {}
    for replica, text in sorted(expositions.items()):
        for found in text_string_to_metric_families(text):
            family = families.setdefault(found.name, Metric(found.name, found.documentation, found.type))
            for sample in found.samples:
                labels = {**sample.labels, LABEL: replica}
                family.add_sample(sample.name, labels, sample.value, sample.timestamp, sample.exemplar)
    registry = CollectorRegistry()
    registry.register(_Families(families))
    return generate_latest(registry)
