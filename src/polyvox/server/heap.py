"""The heap of a server process: large blocks go back to the system as soon as they are freed."""

import ctypes
import sys

_LARGE_BLOCK = 4 * 2**20
_KEPT_FREE = 64 * 2**20
# Parameters of glibc's mallopt.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def return_large_blocks() -> None:
    """Give blocks of 4 MiB and more to the system when they are freed; only glibc needs to be told.

    It raises its own threshold to 32 MiB as such blocks are freed. Answers that grow side by side then leave holes in
    the heap that fit none of them, and a server takes twice the memory that its answers have.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_FREE)
