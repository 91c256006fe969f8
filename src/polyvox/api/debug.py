"""The server from inside, for its operator: threads, disk space, memory. Off unless a setting turns it on."""

import asyncio
import os
import platform
import resource
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends

from polyvox.api.dependencies import Owner, Service
from polyvox.api.responses.error_body import ErrorBody
from polyvox.errors import ForbiddenError
from polyvox.service.keys.operations import Operation

_MEMORY = Path("/proc/meminfo")


async def _check_enabled(service: Service, owner: Owner) -> None:
    service.accounts.access.require(Operation.READ_DEBUG, owner)
    if not service.settings.enable_debug:
        raise ForbiddenError("The debug pages are off on this server; its setting enable_debug turns them on.")


router = APIRouter(
    prefix="/debug",
    tags=["operation"],
    dependencies=[Depends(_check_enabled)],
    responses={403: {"model": ErrorBody, "description": "The setting enable_debug is off."}},
)


@router.get("/threads")
async def threads() -> dict[str, Any]:
    """The threads of the process, the function that each is in, and how many tasks its event loop has."""
    frames = sys._current_frames()
    listed = [
        {"name": thread.name, "id": thread.ident, "daemon": thread.daemon, "in": _place(frames.get(thread.ident or 0))}
        for thread in threading.enumerate()
    ]
    return {"total_threads": len(listed), "threads": listed, "tasks": len(asyncio.all_tasks())}


def _place(frame: Any) -> str:  # noqa: ANN401 - a frame of the interpreter
    return "" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}"


@router.get("/storage")
async def storage(service: Service) -> dict[str, Any]:
    """Space on the disks that hold models and voices, in bytes."""
    settings = service.settings
    return {name: _space(path) for name, path in (("models", settings.models_dir), ("data", settings.data_dir))}


def _space(path: Path) -> dict[str, int] | None:
    nearest = next((folder for folder in (path, *path.parents) if folder.is_dir()), None)
    return None if nearest is None else shutil.disk_usage(nearest)._asdict()


@router.get("/system")
async def system(service: Service) -> dict[str, Any]:
    """Cores, load, memory, and the state of each model."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu": {"cores": os.cpu_count(), "load": os.getloadavg(), "process_seconds": used.ru_utime + used.ru_stime},
        "memory": {**_memory(), "process_peak_bytes": used.ru_maxrss * 1024},
        "python": platform.python_version(),
        "models": {info.id: info.available for info in service.registry.models()},
    }


def _memory() -> dict[str, int]:
    """Total and available memory in bytes, where the system tells."""
    if not _MEMORY.is_file():
        return {}
    lines = dict(line.split(":", 1) for line in _MEMORY.read_text(encoding="ascii").splitlines() if ":" in line)
    names = {"total_bytes": "MemTotal", "available_bytes": "MemAvailable"}
    return {name: int(lines[field].split()[0]) * 1024 for name, field in names.items() if field in lines}
