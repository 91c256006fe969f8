"""What all sources of files have in common."""

from dataclasses import dataclass
from pathlib import Path

from polyvox.bundles.cache import DownloadCache
from polyvox.bundles.manifest import Digest, HubKind, HubSource, Source
from polyvox.bundles.progress import Progress


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that is still missing: its name in the bundle, its path in the source, the contents that will do.

    Of a file whose content nobody knows, anything up to `limit` bytes will do.
    """

    name: str
    path: str
    digests: tuple[Digest, ...]
    limit: int = 0

    @property
    def max_bytes(self) -> int:
        return max((digest.bytes for digest in self.digests), default=self.limit)


@dataclass(frozen=True, slots=True)
class Workshop:
    """What a source works with: the cache that it fills, room for scratch files, the watcher, and the hub's address.

    Of the hubs, only that of the kind `hub` is asked.
    """

    cache: DownloadCache
    scratch: Path
    progress: Progress
    hub_url: str
    hub: HubKind = "hub"

    def asks(self, source: Source) -> bool:
        """Whether this source may be asked for files."""
        return not isinstance(source, HubSource) or source.kind == self.hub


class SourceUnavailableError(Exception):
    """This source cannot be used now; the next one is tried. The message is half a sentence that says why."""
