"""The server's metrics in Prometheus' text format; labels are few and never come from a caller's text."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from polyvox.errors import STATUS, OverloadedError, PolyvoxError, RefusalReason, status_of
from polyvox.runtime.gpu_usage import GpuMonitor
from polyvox.runtime.stage import BatchReport
from polyvox.service.telemetry import known_labels as known
from polyvox.service.telemetry.key_names import OTHERS
from polyvox.service.telemetry.recent_counts import RecentCounts
from polyvox.types import AudioChunk
from polyvox.voices.cache import CacheEvent

_LATENCY = (0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0)
_DURATION = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_REAL_TIME = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 5.0)
_STAGE = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_MOST_KEYS = 1_000
_BATCH = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class GpuCollector(Collector):
    """Memory and utilisation of each GPU as its monitor read them last; nothing where there is no GPU."""

    def __init__(self, monitor: GpuMonitor) -> None:
        self._monitor = monitor

    def collect(self) -> Iterator[GaugeMetricFamily]:
        gpus, labels = self._monitor.latest, ("gpu", "name")
        if not gpus:
            return
        used = GaugeMetricFamily(
            "polyvox_gpu_memory_used_bytes", "Memory of a GPU in use, by any process.", labels=labels
        )
        total = GaugeMetricFamily("polyvox_gpu_memory_total_bytes", "Memory of a GPU.", labels=labels)
        busy = GaugeMetricFamily("polyvox_gpu_utilization_ratio", "Share of time a GPU was busy.", labels=labels)
        for gpu in gpus:
            names = (str(gpu.index), gpu.name)
            used.add_metric(names, gpu.used_bytes)
            total.add_metric(names, gpu.total_bytes)
            if gpu.utilization is not None:
                busy.add_metric(names, gpu.utilization)
        yield from (used, total, busy)


UNKNOWN_MODEL = "unknown"
"""The model of a request that was refused before it was known."""


class Metrics:
    """The metrics of one server; nothing is registered globally.

    The public instruments are for doors that show them under other names as well.
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, gpus: GpuMonitor | None = None) -> None:
        self.registry = registry = CollectorRegistry()
        self.recent = RecentCounts(registry)
        ProcessCollector(registry=registry)
        self.gpus = gpus or GpuMonitor()
        registry.register(GpuCollector(self.gpus))
        self.requests = Counter(
            "polyvox_requests", "Requests, whatever became of them.", ["door", "model"], registry=registry
        )
        self.failures = Counter("polyvox_failures", "Requests that ended in an error.", ["kind"], registry=registry)
        self._first_audio = Histogram(
            "polyvox_time_to_first_audio_seconds",
            "From the request to its first audio, waiting included.",
            ["model"],
            buckets=_LATENCY,
            registry=registry,
        )
        self.real_time_factor = Histogram(
            "polyvox_real_time_factor",
            "Seconds spent making one second of audio, waiting for a slow client left out.",
            ["model"],
            buckets=_REAL_TIME,
            registry=registry,
        )
        self._audio_seconds = Counter("polyvox_audio_seconds", "Seconds of audio made.", ["model"], registry=registry)
        self._words = Counter(
            "polyvox_timed_words",
            "Words given out with their times, by where these come from.",
            ["source"],
            registry=registry,
        )
        self._chunks = Counter("polyvox_chunks", "Chunks of audio made.", ["model"], registry=registry)
        self._underruns = Counter(
            "polyvox_underruns",
            "Gaps in streams: chunks made later than what came before them had been played.",
            ["model"],
            registry=registry,
        )
        self.session_seconds = Histogram(
            "polyvox_session_seconds",
            "From a request to its end, by how it ended.",
            ["state"],
            buckets=_DURATION,
            registry=registry,
        )
        self._queue_depth = Gauge("polyvox_queue_depth", "Requests waiting for their turn.", registry=registry)
        self._active = Gauge("polyvox_active_sessions", "Requests being spoken.", registry=registry)
        self._limit = Gauge(
            "polyvox_session_limit",
            "Requests that may be spoken at once as things are, at most `max_sessions`.",
            registry=registry,
        )
        self._expected_wait = Gauge(
            "polyvox_expected_wait_seconds", "Wait that a new request can expect.", registry=registry
        )
        self._queue_seconds = Histogram(
            "polyvox_queue_seconds",
            "Wait of a request until its turn, of those that got one.",
            buckets=_LATENCY,
            registry=registry,
        )
        self._refused = Counter(
            "polyvox_refused",
            "Requests refused with 429: by the queue, the expected wait, their client's share, or a limit.",
            ["reason"],
            registry=registry,
        )
        self._batch_size = Histogram(
            "polyvox_stage_batch_size", "Items in one batch.", ["stage"], buckets=_BATCH, registry=registry
        )
        self._batch_wait = Histogram(
            "polyvox_stage_wait_seconds",
            "Wait of a batch's longest waiting item.",
            ["stage"],
            buckets=_STAGE,
            registry=registry,
        )
        self._batch_run = Histogram(
            "polyvox_stage_run_seconds", "Time a batch ran.", ["stage"], buckets=_STAGE, registry=registry
        )
        self._stopped = Counter(
            "polyvox_stopped_inferences",
            "Batches that ended early: their callers were gone, or they made way for a first chunk.",
            ["stage"],
            registry=registry,
        )
        self._places = Gauge("polyvox_stage_places", "Sequences a stage has room for.", ["stage"], registry=registry)
        self._busy = Gauge("polyvox_stage_busy", "Sequences that are in a stage.", ["stage"], registry=registry)

        self._voice_cache = Counter(
            "polyvox_voice_cache_events", "What became of lookups of voices.", ["kind", "event"], registry=registry
        )
        self._voice_store = Gauge(
            "polyvox_voice_store_available", "1 if registered voices can be used, 0 if not.", registry=registry
        )
        self._voice_store.set(1)
        self._voice_store_failures = Counter(
            "polyvox_voice_store_failures",
            "Calls of the voice store, by requests or by its own check, that found it out of order.",
            registry=registry,
        )
        self._preparation = Histogram(
            "polyvox_voice_preparation_seconds",
            "Time to make a voice of an engine from a recording.",
            ["model"],
            buckets=_LATENCY,
            registry=registry,
        )
        self._models = Counter(
            "polyvox_model_events",
            "What became of models: loaded, failed to load, unloaded.",
            ["model", "event"],
            registry=registry,
        )
        self._connections = Gauge("polyvox_open_connections", "Open HTTP connections.", registry=registry)
        self._closed_connections = Counter(
            "polyvox_refused_connections", "Connections closed by a limit, by the limit.", ["limit"], registry=registry
        )
        self._sockets = Gauge("polyvox_open_sockets", "Open WebSockets.", registry=registry)
        self._contexts = Gauge("polyvox_open_contexts", "Open contexts of WebSockets.", ["door"], registry=registry)
        self._cancelled_contexts = Counter(
            "polyvox_cancelled_contexts", "Contexts that their client cancelled.", ["door"], registry=registry
        )
        self._cancel_seconds = Histogram(
            "polyvox_cancel_seconds",
            "From a context's cancellation to the end of its inference, which frees its slot.",
            ["door"],
            buckets=_STAGE,
            registry=registry,
        )
        self._pending_bodies = Gauge(
            "polyvox_pending_body_bytes", "Memory of request bodies not yet answered.", registry=registry
        )
        self._refused_bodies = Counter(
            "polyvox_refused_bodies", "Request bodies refused by a limit, by the limit.", ["limit"], registry=registry
        )

        self._buffered_bytes = Gauge(
            "polyvox_buffered_bytes", "Memory of answers that are sent as a whole.", registry=registry
        )
        self._side_waiting = Gauge(
            "polyvox_side_waiting",
            "Requests for phonemes, normalised text or mixed voices that wait.",
            registry=registry,
        )
        self._side_running = Gauge("polyvox_side_running", "Such requests that are worked on.", registry=registry)
        self._side_refused = Counter(
            "polyvox_side_refused", "Such requests that found the queue full.", registry=registry
        )

        self._listening_waiting = Gauge(
            "polyvox_listening_waiting", "Recordings that wait to be transcribed.", registry=registry
        )
        self._listening_running = Gauge(
            "polyvox_listening_running", "Recordings that are transcribed now.", registry=registry
        )
        self._listening_requests = Counter(
            "polyvox_listening_requests",
            "Requests for transcripts, by the door and how they ended: ok, cancelled, or an error.",
            ["door", "outcome"],
            registry=registry,
        )
        self._heard_seconds = Counter(
            "polyvox_heard_seconds", "Seconds of audio transcribed, by the model.", ["model"], registry=registry
        )
        self._listening_seconds = Counter(
            "polyvox_listening_seconds",
            "Seconds that transcription took, from a recording's turn to its transcript, by the model.",
            ["model"],
            registry=registry,
        )

        self._slow_patterns = Counter(
            "polyvox_slow_patterns",
            "Regular expressions of dictionaries that were left out because they take too long.",
            registry=registry,
        )
        self._lost_records = Counter(
            "polyvox_chunk_log_lost",
            "Chunks that could not be written to `chunk_log`.",
            registry=registry,
        )
        self._dropped_spans = Counter(
            "polyvox_dropped_spans",
            "Spans of traces that were lost: the queue was full, or the collector did not take them (export).",
            ["reason"],
            registry=registry,
        )

        self._speech_cache = Counter(
            "polyvox_speech_cache_events",
            "What became of requests and entries of the cache of speech: hit, miss, stored, evicted and so on.",
            ["event"],
            registry=registry,
        )
        self._speech_cache_bytes = Gauge(
            "polyvox_speech_cache_bytes", "Disk space of cached speech, as this process knows it.", registry=registry
        )
        self._jobs = Gauge("polyvox_jobs", "Jobs that are stored, by status.", ["status"], registry=registry)
        self._job_sentences = Counter("polyvox_job_sentences", "Sentences of jobs spoken.", registry=registry)
        self._job_checks = Counter(
            "polyvox_job_checks",
            "Sentences of verified jobs: checked, respoken, remaining with wrong words, unchecked.",
            ["event"],
            registry=registry,
        )
        self._key_requests = Counter(
            "polyvox_key_requests", "Requests for speech, by the name of their key.", ["key"], registry=registry
        )
        self._key_characters = Counter(
            "polyvox_key_characters",
            "Characters of requests that were spoken, by the name of their key.",
            ["key"],
            registry=registry,
        )
        self._key_audio = Counter(
            "polyvox_key_audio_seconds", "Seconds of audio sent, by the name of the key.", ["key"], registry=registry
        )
        self._key_refused = Counter(
            "polyvox_key_refused",
            "Requests refused by a limit of their key, by its name and the limit.",
            ["key", "limit"],
            registry=registry,
        )
        self._key_names: set[str] = set()
        self._key_store = Gauge(
            "polyvox_key_store_available", "1 if the keys can be read, 0 if not or if they are gone.", registry=registry
        )
        self._limits_lost = Counter(
            "polyvox_limits_store_failures",
            "Times that Redis did not answer, so that this server counted limits for itself.",
            registry=registry,
        )
        self._ended_jobs = Counter(
            "polyvox_ended_jobs", "Jobs that came to an end or a halt, by their status.", ["status"], registry=registry
        )

    def _start_at_zero(self) -> None:
        """Show every series whose labels are known."""
        labels: dict[Counter | Histogram, Iterable[str]] = {
            self.failures: (status.code for status in STATUS.values()),
            self._refused: RefusalReason,
            self._closed_connections: known.CONNECTION_LIMITS,
            self._refused_bodies: known.BODY_LIMITS,
            self._dropped_spans: known.SPAN_LOSSES,
            self._speech_cache: known.SPEECH_CACHE_EVENTS,
            self.session_seconds: known.SESSION_ENDS,
            self._ended_jobs: known.JOB_ENDS,
            self._job_checks: known.JOB_CHECKS,
        }
        for instrument, values in labels.items():
            for value in values:
                instrument.labels(value)

    def expect(self, doors: Iterable[str], models: Sequence[str]) -> None:
        """Show the series of these doors and models before their first request."""
        for model in models:
            for instrument in (self._first_audio, self._audio_seconds, self._chunks, self._underruns):
                instrument.labels(model)
            for event in known.MODEL_EVENTS:
                self._models.labels(model, event)
        for door in doors:
            for model in (UNKNOWN_MODEL, *models):
                self.requests.labels(door, model)

    def voice_store_failed(self) -> None:
        self._voice_store_failures.inc()

    def watch_keys(self, works: Callable[[], bool]) -> None:
        """Read from this function at every scrape whether the keys can be read."""
        self._key_store.set_function(lambda: float(works()))

    def key_used(self, key: str, *, requests: int = 0, characters: int = 0, audio_seconds: float = 0.0) -> None:
        """Count what a key used."""
        name = self._key_label(key)
        if requests:
            self._key_requests.labels(name).inc(requests)
        if characters:
            self._key_characters.labels(name).inc(characters)
        if audio_seconds:
            self._key_audio.labels(name).inc(audio_seconds)

    def key_refused(self, key: str, resource: str) -> None:
        self._key_refused.labels(self._key_label(key), resource).inc()

    def limits_lost(self) -> None:
        self._limits_lost.inc()

    def _key_label(self, key: str) -> str:
        """The key's name; of further keys than can be told apart, one for all."""
        if key not in self._key_names and len(self._key_names) >= _MOST_KEYS:
            return OTHERS
        self._key_names.add(key)
        return key

    def watch_speech_cache(self, used: Callable[[], float]) -> None:
        """Read the size of the cache of speech from this function at every scrape."""
        self._speech_cache_bytes.set_function(used)

    def speech_cache(self, event: str) -> None:
        """Count a hit or a miss in the cache of speech, or what became of an entry."""
        self._speech_cache.labels(event).inc()

    def job_counts(self, counts: Mapping[str, int]) -> None:
        """Set how many jobs there are by status."""
        for status, count in counts.items():
            self._jobs.labels(status).set(count)

    def job_sentences(self, count: int) -> None:
        self._job_sentences.inc(max(0, count))

    def job_checks(self, event: str, count: int) -> None:
        """Count sentences of verified jobs, by what came of them."""
        self._job_checks.labels(event).inc(max(0, count))

    def job_ended(self, status: str) -> None:
        self._ended_jobs.labels(status).inc()

    def watch_side(self, *, waiting: Callable[[], float], running: Callable[[], float]) -> None:
        """Read the gauges of side work from these functions at every scrape."""
        self._side_waiting.set_function(waiting)
        self._side_running.set_function(running)

    def watch_output(self, used: Callable[[], float]) -> None:
        """Read the memory of whole answers from this function at every scrape."""
        self._buffered_bytes.set_function(used)

    def chunk_record_lost(self) -> None:
        self._lost_records.inc()

    def spans_dropped(self, reason: str, count: int) -> None:
        self._dropped_spans.labels(reason).inc(count)

    def slow_patterns(self, count: int) -> None:
        self._slow_patterns.inc(count)

    def watch_listening(self, *, waiting: Callable[[], float], running: Callable[[], float]) -> None:
        """Read the gauges of transcription from these functions at every scrape."""
        self._listening_waiting.set_function(waiting)
        self._listening_running.set_function(running)

    def listened(self, door: str, outcome: str) -> None:
        """Count a request for a transcript that has ended."""
        self._listening_requests.labels(door, outcome).inc()

    def heard(self, model: str, audio_seconds: float, seconds: float) -> None:
        """Count a transcript: the length of its recording, and the time it took."""
        self._heard_seconds.labels(model).inc(audio_seconds)
        self._listening_seconds.labels(model).inc(seconds)

    def side_refused(self) -> None:
        self._side_refused.inc()

    def watch(
        self,
        *,
        queue_depth: Callable[[], float],
        active: Callable[[], float],
        limit: Callable[[], float],
        expected_wait: Callable[[], float],
    ) -> None:
        """Read these gauges from the functions at every scrape."""
        self._queue_depth.set_function(queue_depth)
        self._active.set_function(active)
        self._limit.set_function(limit)
        self._expected_wait.set_function(expected_wait)

    def watch_voice_store(self, available: Callable[[], bool]) -> None:
        """Read at every scrape from this function whether the voice store works."""
        self._voice_store.set_function(lambda: float(available()))

    def watch_connections(self, count: Callable[[], float]) -> None:
        """Read the number of open connections from this function at every scrape."""
        self._connections.set_function(count)

    def watch_sockets(self, count: Callable[[], float]) -> None:
        """Read the number of open WebSockets from this function at every scrape."""
        self._sockets.set_function(count)

    def context_opened(self, door: str) -> None:
        self._contexts.labels(door).inc()

    def context_closed(self, door: str) -> None:
        self._contexts.labels(door).dec()

    def context_cancelled(self, door: str, seconds: float) -> None:
        """Count a context that its client cancelled, and the time until its slot was free."""
        self._cancelled_contexts.labels(door).inc()
        self._cancel_seconds.labels(door).observe(seconds)

    def watch_bodies(self, pending: Callable[[], float]) -> None:
        """Read the memory of unanswered bodies from this function at every scrape."""
        self._pending_bodies.set_function(pending)

    def connection_refused(self, limit: str) -> None:
        self._closed_connections.labels(limit).inc()

    def body_refused(self, limit: str) -> None:
        self._refused_bodies.labels(limit).inc()

    def requested(self, door: str, model: str) -> None:
        self.requests.labels(door, model).inc()

    def model_event(self, model: str, event: str) -> None:
        """Count that a model was loaded, failed to load, or was unloaded."""
        self._models.labels(model, event).inc()

    def failed(self, error: PolyvoxError) -> None:
        """Count a request that was refused or failed."""
        error.counted = True
        self.failures.labels(status_of(error).code).inc()
        if isinstance(error, OverloadedError):
            self._refused.labels(error.reason).inc()

    def waited(self, seconds: float) -> None:
        """Count a request that got its turn."""
        self._queue_seconds.observe(seconds)

    def first_audio(self, model: str, seconds: float) -> None:
        self._first_audio.labels(model).observe(seconds)
        self._underruns.labels(model)  # 0, and not unknown, also of a model that was loaded for a request

    def underrun(self, model: str) -> None:
        self._underruns.labels(model).inc()

    def chunk(self, model: str, chunk: AudioChunk) -> None:
        self._chunks.labels(model).inc()
        self._audio_seconds.labels(model).inc(chunk.duration)
        for word in chunk.words:
            self._words.labels(word.source).inc()

    def ended(self, model: str, state: str, seconds: float, real_time_factor: float | None) -> None:
        """Count the end of a session; the factor is None when it produced no audio."""
        self.session_seconds.labels(state).observe(seconds)
        if real_time_factor is not None:
            self.real_time_factor.labels(model).observe(real_time_factor)

    def batch(self, report: BatchReport) -> None:
        """Observer of an engine's stages."""
        if report.size:
            self._batch_size.labels(report.stage).observe(report.size)
            self._batch_wait.labels(report.stage).observe(report.wait_seconds)
            self._batch_run.labels(report.stage).observe(report.run_seconds)
        if report.stopped:
            self._stopped.labels(report.stage).inc()
        if report.slots:
            self._places.labels(report.stage).set(report.slots)
            self._busy.labels(report.stage).set(report.running)

    def voice_cache(self, kind: str, event: CacheEvent) -> None:
        """Observer of the caches of recordings and prepared voices."""
        self._voice_cache.labels(kind, event).inc()

    def prepared(self, model: str, seconds: float) -> None:
        self._preparation.labels(model).observe(seconds)

    def render(self, *others: Collector) -> bytes:
        """Everything in the text format, followed by the metrics of other collectors."""
        self._start_at_zero()
        return b"".join(generate_latest(source) for source in (self.registry, *others))
