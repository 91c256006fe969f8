"""The metrics of several door processes as one exposition."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

LABEL = "replica"

_LEAST = frozenset({"polyvox_voice_store_available", "polyvox_key_store_available", "process_start_time_seconds"})
_MOST = frozenset(
    {
        "polyvox_speech_cache_bytes",
        "polyvox_gpu_memory_used_bytes",
        "polyvox_gpu_memory_total_bytes",
        "polyvox_gpu_utilization_ratio",
        "process_max_fds",
    }
)
"""Gauges that every process reads from the same thing, so that their sum would mean nothing."""
_KEPT_TYPES = frozenset({"counter", "histogram", "unknown"})


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
    return exposition_of(families)


def exposition_of(families: Mapping[str, Metric]) -> bytes:
    """Families of metrics in the text format."""
    registry = CollectorRegistry()
    registry.register(_Families(families))
    return generate_latest(registry)


def families_in(exposition: bytes) -> dict[str, Metric]:
    """The families of metrics of one process."""
    return {family.name: family for family in text_string_to_metric_families(exposition.decode())}


def counted(families: Mapping[str, Metric]) -> dict[str, Metric]:
    """The part that stays true of a process that has ended: its counts."""
    return {name: family for name, family in families.items() if family.type in _KEPT_TYPES}


def summed(processes: Iterable[Mapping[str, Metric]]) -> dict[str, Metric]:
    """The metrics of processes that are one server: counts, and most gauges, are sums."""
    found: dict[str, Metric] = {}
    values: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
    for families in processes:
        for name, family in families.items():
            found.setdefault(name, Metric(name, family.documentation, family.type))
            series = values.setdefault(name, {})
            for sample in family.samples:
                key = (sample.name, tuple(sample.labels.items()))
                before = series.get(key)
                series[key] = sample.value if before is None else _joined(sample.name)(before, sample.value)
    for name, family in found.items():
        for (sample_name, labels), value in values[name].items():
            family.add_sample(sample_name, dict(labels), value)
    return found


def _joined(name: str) -> Callable[[float, float], float]:
    if name in _LEAST or name.endswith("_created"):
        return min
    return max if name in _MOST else operator.add
