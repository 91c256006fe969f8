"""BrowserExport: the files with which browsers speak, made from an installed model when they are first asked for."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import structlog

from polyvox.bundles.browser_bundle import BrowserBundle, export_browser_bundle, open_browser_bundle
from polyvox.bundles.validate import open_bundle
from polyvox.engines.catalog import Catalog
from polyvox.errors import BundleError, InvalidRequestError

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def write_for_browsers(models_dir: Path, folder: Path, voices: Sequence[str] = ()) -> None:
    """Write the files of some voices, of all unless given, to a folder; BundleError names what to install first."""
    export = next(spec.browser for spec in Catalog.installed().specs if spec.browser is not None)
    if unknown := sorted(set(voices) - set(export.voices)):
        raise InvalidRequestError(
            f"No voice {unknown[0]!r} speaks in a browser; those are {', '.join(export.voices)}.", field="voice"
        )
    export.write(open_bundle(export.bundle, models_dir).folder, folder, voices or export.voices)


class BrowserExport:
    """The browser bundle of one server."""

    def __init__(self, models_dir: Path) -> None:
        self._models_dir = models_dir
        self._making = asyncio.Lock()

    async def bundle(self, *, make: bool) -> BrowserBundle:
        """The bundle; made now if there is none and `make` allows it, else BundleError names the command."""
        if not make:
            return await self._opened()
        async with self._making:
            try:
                return await self._opened()
            except BundleError:
                return await self._made()

    async def _opened(self) -> BrowserBundle:
        return await asyncio.to_thread(open_browser_bundle, self._models_dir)

    async def _made(self) -> BrowserBundle:
        write = partial(write_for_browsers, self._models_dir)
        bundle = await asyncio.to_thread(export_browser_bundle, self._models_dir, write)
        log.info("browser bundle written", folder=str(bundle.folder), bytes=bundle.bytes)
        return bundle
