import os
import subprocess
import sys
from pathlib import Path


def test_the_inference_runtime_neither_reports_nor_leaves_an_identifier(tmp_path: Path) -> None:
    places = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(tmp_path))
    kept = {name: value for name, value in os.environ.items() if name not in ("ORT_DISABLE_TELEMETRY", "CI")}
    program = "import polyvox, onnxruntime; print(onnxruntime.get_available_providers())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**kept, **places},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "CPUExecutionProvider" in done.stdout
    assert list(tmp_path.iterdir()) == []
