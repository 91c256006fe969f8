"""Storage of a machine, whose sizes are written with small letters in settings: -Xmx调到12g."""

import re
from typing import Final

_MEMORY: Final = (
    "-X[ms][xsn]|内存(?!条)|显存|堆(?=内存|大小|上限|[设调从])|硬盘|磁盘|固态|缓存|带宽|宽带|"
    "流量|容器|JVM|RAM|VRAM|swap|memory|shm|limit"
)
_ROOM: Final = re.compile(rf"(?:{_MEMORY})[^,.;。，；!?]{{0,16}}\Z", re.IGNORECASE)
_OF_MEMORY: Final = re.compile(
    " ?的?(?:运行|系统|可用|空闲|免费|定向|全国|通用|堆|独立|高速)?(?:内存|显存|硬盘|磁盘|固态|"
    "缓存|带宽|宽带|流量|存储|swap|RAM)",
    re.IGNORECASE,
)
# A telephone's two memories, and the words of settings that speak of nothing that has a weight: 12g+256g, JVM.
_TWO: Final = re.compile(r"(?<!\d)(?:4|6|8|12|16|18|24|32)[gG]?\+(?:64|128|256|512|1)[gGtT](?![A-Za-z0-9])")
_MACHINE: Final = re.compile("-Xm[sxn]|JVM|OOM|maxmemory|[Dd]ocker|[Kk]8s|kubectl")
_ROOM_REACH: Final = 28
_NEAR: Final = 12
_FAR: Final = 80


def is_room(match: re.Match[str]) -> bool:
    """Return whether a small letter stands for gigabytes and their like."""
    text, start = match.string, match.start()
    if match["unit"] == "g" and _MACHINE.search(text, max(0, start - _FAR), start + _FAR):
        return True
    if "+" in text and any(
        two.start() <= start < two.end() for two in _TWO.finditer(text, max(0, start - _NEAR), match.end() + _NEAR)
    ):
        return True
    return bool(_OF_MEMORY.match(text, match.end()) or _ROOM.search(text, max(0, start - _ROOM_REACH), start))
