"""`python -m training.wren.benchmark`: steps a second on random data, eager and as a CUDA graph, and a profile."""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from polyvox.models.kokoro.wren import Wren, WrenConfig
from polyvox.models.kokoro.wren_refiner import RefinerConfig
from training.wren.discriminators import Discriminators
from training.wren.pool import random_pool
from training.wren.trainer import BatchShape, Step, Trainer, capture, compile_modules

_TIMEOUT_SECONDS = 110


def steps_per_second(step: Step, device: torch.device, seconds: float) -> float:
    """Throughput of a step over about so many seconds."""
    step()
    _synchronize(device)
    began, count = time.perf_counter(), 0
    while count == 0 or time.perf_counter() - began < seconds:
        step()
        count += 1
        if count % 10 == 0:
            _synchronize(device)
    _synchronize(device)
    return count / (time.perf_counter() - began)


def _profile(step: Step, device: torch.device) -> str:
    """Table of the operators of three steps by their own time."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(3):
            step()
        _synchronize(device)
    key = "self_cuda_time_total" if device.type == "cuda" else "self_cpu_time_total"
    return str(profile.key_averages().table(sort_by=key, row_limit=40, max_name_column_width=90))


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def measure(
    mode: str, shape: BatchShape, config: WrenConfig, seconds: float, streams: int = 0, profile: Path | None = None
) -> dict[str, object]:
    """Steps a second of both kinds, their last metrics, and peak memory."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    if device.type == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True
        torch.backends.cudnn.benchmark = True
    discriminators = Discriminators()
    if device.type == "cuda":
        discriminators.streams = [torch.cuda.Stream() for _ in range(streams)]  # type: ignore[no-untyped-call]
    trainer = Trainer(Wren(config), discriminators, random_pool(device), shape)
    if mode == "compile":
        compile_modules(trainer)
    result: dict[str, object] = {"mode": mode, "frames": shape.frames, "streams": streams}
    for name, step in (("adversarial", trainer.adversarial_step), ("spectral", trainer.spectral_step)):
        # At a rate of 0 the initial weights stay: the first metrics should be alike in all modes.
        trainer.set_learning_rates(0.0, 0.0)
        taken = step if mode == "eager" or device.type != "cuda" else capture(step)
        torch.manual_seed(1)
        taken()
        result[f"{name}_first_metrics"] = _rounded(trainer.metrics)
        trainer.set_learning_rates(1e-4, 1e-4)
        result[name] = round(steps_per_second(taken, device, seconds), 2)
        result[f"{name}_metrics"] = _rounded(trainer.metrics)
        if profile is not None and mode == "eager":
            profile.write_text(_profile(taken, device), encoding="utf-8")
    result["finite"] = all(bool(parameter.isfinite().all()) for parameter in trainer.student.parameters())
    if device.type == "cuda":
        result["gigabytes"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
    return result


def _rounded(metrics: Tensor) -> list[float]:
    return [round(value, 4) for value in metrics.tolist()]


def _measure_in_process(mode: str, arguments: Sequence[str]) -> dict[str, object]:
    """Measure in a process of its own, since a failed capture can take its process with it."""
    command = [sys.executable, "-m", "training.wren.benchmark", f"--only={mode}", *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return {"mode": mode, "failed": f"no result after {_TIMEOUT_SECONDS} seconds"}
    if ended.returncode != 0:
        return {"mode": mode, "failed": ended.stderr[-1500:]}
    result: dict[str, object] = json.loads(ended.stdout.strip().splitlines()[-1])
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line of JSON per mode."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.benchmark", description=__doc__)
    parser.add_argument("--modes", nargs="*", default=["graph", "eager"], choices=("graph", "eager", "compile"))
    parser.add_argument("--only", help="measure this mode in this process")
    parser.add_argument("--profile", type=Path, help="write the eager steps' profile to this file")
    parser.add_argument("--batch", type=int, default=BatchShape().segments)
    parser.add_argument("--frames", type=int, default=BatchShape().frames)
    parser.add_argument("--width", type=int, default=WrenConfig().width)
    parser.add_argument("--refiner-blocks", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--streams", type=int, default=0, help="CUDA streams that share out the discriminators")
    options = parser.parse_args(arguments)
    if options.only:
        shape = BatchShape(options.batch, options.frames)
        refiner = RefinerConfig(blocks=options.refiner_blocks)
        config = WrenConfig(width=options.width, utterance_dim=64, refiner=refiner)
        measured = measure(options.only, shape, config, options.seconds, options.streams, options.profile)
        print(json.dumps(measured), flush=True)
        return
    names = ("batch", "frames", "width", "refiner_blocks", "seconds", "streams")
    passed = [f"--{name.replace('_', '-')}={getattr(options, name)}" for name in names]
    passed += [f"--profile={options.profile}"] if options.profile else []
    for mode in options.modes:
        print(json.dumps(_measure_in_process(mode, passed)), flush=True)


if __name__ == "__main__":
    main()
