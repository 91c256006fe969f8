"""`bundle.json`: what was installed into a folder, from where, and what each file looked like when last checked."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyvox.bundles.disk import write_whole
from polyvox.bundles.manifest import FileName, Sha256
from polyvox.container_image import pull_hint
from polyvox.errors import BundleError

RECORD_NAME = "bundle.json"
_MAX_BYTES = 4 << 20


class FileRecord(BaseModel):
    """One installed file; `published_sha256` is the download's hash where installing changed the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: Sha256
    bytes: int = Field(ge=0)
    mtime_ns: int
    source: str
    published_sha256: Sha256 | None = None


class BundleRecord(BaseModel):
    """The state of one installed bundle; written last, so a folder without it is not a bundle."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    version: str
    files: dict[FileName, FileRecord]

    def write(self, folder: Path) -> None:
        """Replace the folder's record in one step."""
        write_whole(folder / RECORD_NAME, self.model_dump_json(indent=2).encode() + b"\n")


def read_record(folder: Path) -> BundleRecord | None:
    """The folder's record; None where there is none."""
    path = folder / RECORD_NAME
    if not path.is_file():
        return None
    with path.open("rb") as stream:
        content = stream.read(_MAX_BYTES + 1)
    try:
        if len(content) > _MAX_BYTES:
            raise ValueError("too large")
        return BundleRecord.model_validate_json(content)
    except (ValidationError, ValueError) as error:
        raise BundleError(f"{path} is not a record that Polyvox wrote; run: {pull_hint(folder.name)}.") from error
