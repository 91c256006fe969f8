"""A speech service in this process, built from the settings."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.engines.catalog import Catalog
from polyvox.service.registry.model_loader import Absence
from polyvox.service.registry.registry import Outline, Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.telemetry.tracer_choice import open_tracer


def build_service(
    settings: Settings,
    engines: Mapping[str, Callable[[Settings], Engine]],
    absence: Absence | None = None,
    outline: Outline | None = None,
) -> SpeechService:
    """A service that has not started yet; with `absence`, requests load the models that are installed."""
    metrics = Metrics()
    tracer = open_tracer(settings, metrics.spans_dropped)
    return SpeechService(settings, Registry(settings, engines, absence=absence, outline=outline), metrics, tracer)


@asynccontextmanager
async def running_service(settings: Settings, *, hd: bool = False) -> AsyncIterator[SpeechService]:
    """A started service of the default model alone; closed when the block ends.

    With `hd` the model of the setting `hd_model` is loaded, too, when it is first asked for, if it is installed.
    """
    catalog = Catalog.installed()
    better = settings.hd_model if hd and settings.hd_model and not catalog.absence(settings.hd_model, settings) else ""
    alone = settings.model_copy(update={"models": [settings.default_model], "hd_model": better})
    service = build_service(alone, catalog.factories, partial(catalog.absence, settings=settings) if better else None)
    await service.start()
    try:
        service.registry.engine(None)
        yield service
    finally:
        await service.close()
