"""Imported voice packs as safetensors files: one tensor `style` of float32 [510, 1, 256], and nothing else."""

import json
import os
import re
import secrets
import struct
import time
from collections.abc import Collection
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polyvox.bundles.disk import sync_file, sync_folder
from polyvox.errors import InvalidRequestError
from polyvox.voices.storage.recordings import digest_of
from polyvox.voices.torch_file import TorchFileError, read_torch_file

PACKS = "packs"
"""The folder of packs below `data_dir`."""
PACK_SHAPE = (510, 1, 256)
MAX_PACK_BYTES = 1_200_000
"""Largest `.pt` file that is read: a pack in double precision."""
_OLD_ROWS = 511
_FARTHEST = 100.0
_STRAY_SECONDS = 3_600.0
_NAME = re.compile(r"[0-9a-f]{32}")
_SIZE = 4 * PACK_SHAPE[0] * PACK_SHAPE[1] * PACK_SHAPE[2]

VoicePack = npt.NDArray[np.float32]


def _header() -> bytes:
    described = {"style": {"dtype": "F32", "shape": list(PACK_SHAPE), "data_offsets": [0, _SIZE]}}
    text = json.dumps(described, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


_HEADER = _header()


def read_pack(data: bytes) -> VoicePack:
    """The voice pack in a `.pt` file of Kokoro's; whatever else it may be is refused."""
    if len(data) > MAX_PACK_BYTES:
        raise InvalidRequestError(
            f"A voice pack has at most {MAX_PACK_BYTES:,} bytes; this file has more.", field="pack"
        )
    try:
        tensor = read_torch_file(data, MAX_PACK_BYTES)
    except TorchFileError as error:
        raise InvalidRequestError(f"The file is no voice pack: {error}", field="pack") from error
    if tensor.shape == (_OLD_ROWS, *PACK_SHAPE[1:]):
        tensor = tensor[: PACK_SHAPE[0]]
    if tensor.shape != PACK_SHAPE:
        raise InvalidRequestError(
            f"A voice pack is a tensor {list(PACK_SHAPE)}; this one is {list(tensor.shape)[:8]}.", field="pack"
        )
    pack = tensor.astype(np.float32)
    if not _is_sound(pack):
        raise InvalidRequestError("The voice pack has values that no voice has; export it again.", field="pack")
    return pack


class PackFiles:
    """The packs of one server, under names that nobody else chooses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, pack: VoicePack) -> tuple[str, str]:
        """Store a pack; its name and digest. When this returns, it survives a crash."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name, content = secrets.token_hex(16), _HEADER + np.ascontiguousarray(pack, "<f4").tobytes()
        path = self._path(name)
        partial = path.with_suffix(".part")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        sync_file(partial)
        partial.replace(path)
        sync_folder(self._folder)
        return name, digest_of(content)

    def read(self, name: str, digest: str) -> VoicePack:
        """A pack, checked against its digest."""
        content = b""
        if _NAME.fullmatch(name):
            try:
                with self._path(name).open("rb") as file:
                    content = file.read(len(_HEADER) + _SIZE + 1)
            except FileNotFoundError:
                pass  # refused below, as a damaged file is
        pack = np.frombuffer(content[len(_HEADER) :], "<f4") if content.startswith(_HEADER) else np.empty(0, "<f4")
        if pack.nbytes != _SIZE or digest_of(content) != digest or not _is_sound(pack):
            raise InvalidRequestError("The voice pack's file is missing or damaged; import it again.", field="voice")
        return pack.astype(np.float32).reshape(PACK_SHAPE)

    def remove(self, name: str) -> None:
        """Delete a pack, if it is there."""
        if _NAME.fullmatch(name):
            self._path(name).unlink(missing_ok=True)

    def sweep(self, used: Collection[str]) -> int:
        """Delete the files that no voice names, as a crash leaves them behind; how many."""
        strays = [
            path
            for path in (self._folder.iterdir() if self._folder.is_dir() else ())
            if path.stem not in used and time.time() - path.stat().st_mtime > _STRAY_SECONDS
        ]
        for path in strays:
            path.unlink(missing_ok=True)
        return len(strays)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.safetensors"


def _is_sound(pack: npt.NDArray[np.float32]) -> bool:
    return bool(np.isfinite(pack).all()) and bool((np.abs(pack) <= _FARTHEST).all())
