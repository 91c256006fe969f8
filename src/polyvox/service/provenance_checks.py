"""Checks of files for callers: what was found of their provenance, a few files at a time."""

import asyncio
from functools import partial

from polyvox.errors import InvalidRequestError, NotFoundError, OverloadedError
from polyvox.provenance.manifest import SignedManifest
from polyvox.provenance.verification import Exhibit, Findings, Verifier
from polyvox.provenance.watermarks import installed_watermarker, search_for
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recording.decoder import read_bounded

_RETRY_SECONDS = 2.0
MAX_SECONDS = 300.0
"""Longest audio whose samples are looked at."""


async def exhibit_of(data: bytes, max_bytes: int) -> Exhibit:
    """A file read in the sandbox; one whose samples cannot be read still has its bytes and tags."""
    read = await read_bounded(data, PromptLimits(max_bytes, 0.0, MAX_SECONDS / 2))
    if isinstance(read.samples, tuple):
        return Exhibit(data, read.tags, read.samples)
    return Exhibit(data, read.tags, None, read.samples.message)


class ProvenanceChecks:
    """Checks files and gives out manifests. Beyond `prompt_workers` files at once and `max_queue` more it refuses."""

    def __init__(self, service: SpeechService) -> None:
        self._service = service
        settings = service.settings
        self._max_bytes = settings.prompt_max_bytes
        self._slots = asyncio.Semaphore(settings.prompt_workers)
        self._most = settings.prompt_workers + settings.max_queue
        self._present = 0
        self._watermark = service.notary.watermark

    async def check(self, data: bytes, manifest: bytes | None, owner: str) -> Findings:
        """Look for evidence in a file, whose manifest the caller may bring."""
        self._service.accounts.access.require(Operation.CHECK_PROVENANCE, owner)
        signed = None if manifest is None else SignedManifest.parse(manifest)
        if manifest is not None and signed is None:
            raise InvalidRequestError("'manifest' is no signed manifest; send its JSON as it is.", field="manifest")
        if self._present >= self._most:
            raise OverloadedError("Too many files wait to be checked; try again later.", retry_after=_RETRY_SECONDS)
        self._present += 1
        try:
            async with self._slots:
                exhibit = await exhibit_of(data, self._max_bytes)
                return await asyncio.to_thread(partial(self._verified, exhibit, signed))
        finally:
            self._present -= 1

    async def manifest(self, content_id: str) -> SignedManifest:
        """The signed manifest of an answer, also while it is being sent."""
        found = await asyncio.to_thread(self._service.notary.manifest, content_id)
        if found is None:
            raise NotFoundError("There is no manifest with this id here, or no longer.", field="id")
        return found

    def _verified(self, exhibit: Exhibit, signed: SignedManifest | None) -> Findings:
        """Verify a file; blocks. The watermark is looked for wherever its model is installed."""
        if self._watermark is None:
            self._watermark = installed_watermarker(self._service.settings.models_dir)
        search = None if self._watermark is None else search_for(self._watermark)
        notary = self._service.notary
        return Verifier(notary.manifest, notary.keys, search).verify(exhibit, signed)
