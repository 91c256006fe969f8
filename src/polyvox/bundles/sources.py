"""Types that all sources of files share."""

from dataclasses import dataclass
from pathlib import Path

from polyvox.bundles.cache import DownloadCache
from polyvox.bundles.manifest import Digest, HubKind, HubSource, Source
from polyvox.bundles.progress import Progress


@dataclass(frozen=True, slots=True)
class RequestedFile:
    """A missing file: its name in the bundle, its path in the source, and the digests that are accepted.

    Without digests, anything up to `limit` bytes is accepted.
    """

    name: str
    path: str
    digests: tuple[Digest, ...]
    limit: int = 0

    @property
    def max_bytes(self) -> int:
        return max((digest.bytes for digest in self.digests), default=self.limit)


@dataclass(frozen=True, slots=True)
class FetchContext:
    """The environment of a fetch: the cache that it fills, a scratch folder, progress, and the hub's URL.

    Of the hubs, only that of the kind `hub` is used.
    """

    cache: DownloadCache
    scratch: Path
    progress: Progress
    hub_url: str
    hub: HubKind = "hub"

    def uses(self, source: Source) -> bool:
        """Return whether this source may be used."""
        return not isinstance(source, HubSource) or source.kind == self.hub


class SourceUnavailableError(Exception):
    """This source cannot be used now; the next one is tried. The message is half a sentence that says why."""
