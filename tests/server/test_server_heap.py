"""A server process gives large blocks back to the system."""

import platform
import subprocess
import sys
import textwrap

import pytest

BLOCKS = 8
BLOCK = 8 * 2**20
PROGRAM = f"""
    import re
    from pathlib import Path

    def resident():
        return int(re.findall(r"VmRSS:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[0]) * 1024

    def answers():
        kept = []
        for _ in range({BLOCKS}):
            kept.append((bytearray(b"a") * {BLOCK}, bytearray(100_000)))
        return [small for _, small in kept]

    {{call}}
    answers()  # the first blocks that are freed raise glibc's threshold
    before = resident()
    kept = answers()
    print(resident() - before)
"""


def taken(call: str) -> int:
    """Bytes that a process holds when its large blocks are freed and smaller ones, made between them, are not."""
    program = textwrap.dedent(PROGRAM).format(call=call)
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps large blocks")
def test_large_blocks_are_given_back_whatever_lies_between_them() -> None:
    assert taken("") > BLOCKS * BLOCK // 2
    assert taken("from polyvox.server.heap import return_large_blocks; return_large_blocks()") < BLOCKS * BLOCK // 8
