"""The browser package `polyvox-web`, built with the packages of its lock file."""

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers.studio_tools import need

WEB = Path(__file__).parents[2] / "web"
COMPILED_ONCE = "--liftoff-only"
"""V8 compiles WebAssembly in one pass: slower to run, and a third of the CPU time for what a test runs once."""
_RUNTIME = WEB / "node_modules" / "onnxruntime-web" / "dist"


def built_package() -> Path:
    """The folder `dist`, built from the sources as they are."""
    _install()
    stamp, sources = WEB / "dist" / ".sources.sha256", sources_hash()
    with _alone():
        if not stamp.is_file() or stamp.read_text() != sources:
            _run("npm", "run", "build")
            stamp.write_text(sources)
    return WEB / "dist"


def run_check(*arguments: Path, folder: Path) -> None:
    """Run `test/check.ts` in Node."""
    _install()
    script = folder / "check.mjs"
    alias = f"--alias:onnxruntime-web/wasm={_RUNTIME / 'ort.wasm.bundle.min.mjs'}"
    options = ("--bundle", "--platform=node", "--format=esm", "--log-level=warning", f"--outfile={script}", alias)
    _run(str(WEB / "node_modules" / ".bin" / "esbuild"), "test/check.ts", *options)
    bundle, *rest = map(str, arguments)
    _run("node", COMPILED_ONCE, str(script), bundle, str(_RUNTIME / "ort-wasm-simd-threaded.wasm"), *rest)


def _install() -> None:
    need(shutil.which("npm"), "The tests of the browser package need npm; run: apt-get install nodejs npm")
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    stamp = WEB / "node_modules" / ".lock.sha256"
    with _alone():
        if not stamp.is_file() or stamp.read_text() != lock:
            done = subprocess.run(["npm", "ci"], cwd=WEB, capture_output=True, text=True, timeout=300)
            need(done.returncode == 0, f"npm could not install the browser package's tools: {done.stderr[-500:]}")
            stamp.write_text(lock)


def sources_hash() -> str:
    """The same as `web/studio.mjs` writes beside the Studio's copy: SHA-256 over names and contents."""
    hashed = hashlib.sha256()
    files = [WEB / name for name in ("build.mjs", "package-lock.json", "studio.mjs", "tsconfig.json")]
    files += [path for path in (WEB / "src").rglob("*") if path.is_file()]
    for name in sorted(path.relative_to(WEB).as_posix() for path in files):
        hashed.update(f"{name}\0".encode() + (WEB / name).read_bytes() + b"\0")
    return hashed.hexdigest()


def packed_for_studio(folder: Path) -> Path:
    """The built package as the Studio has it, in a folder of the test's."""
    built_package()
    _run("node", "studio.mjs", str(folder))
    return folder


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]


@contextmanager
def _alone() -> Iterator[None]:
    """Workers of one machine share the packages and the build."""
    with (WEB / ".gitignore").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
