"""`python -m training.wren.train`: distill Kokoro's decoder into Wren, from scratch or from a checkpoint.

The teacher synthesizes speech for `--pool-seconds`. A run from scratch then trains with the spectral loss alone for
`--spectral-seconds`, and with discriminators for the rest. The learning rate is constant after a warm-up, and follows
half a cosine over the last `--anneal-seconds`. The latest checkpoint is always in `RUN/checkpoint`. Parts of the
network that the resumed checkpoint lacks start anew.
"""

import argparse
import json
import math
import signal
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import FrameType

import torch
from torch import Tensor

from polyvox.models.kokoro.wren import Wren, WrenConfig
from polyvox.models.kokoro.wren_refiner import RefinerConfig
from training.wren.checkpoint import Checkpoint, Progress
from training.wren.discriminators import Discriminators
from training.wren.held_out import read_sentences, write_archive
from training.wren.lines import PhonemeLines
from training.wren.losses import SpectralLoss
from training.wren.pool import SpeechPool
from training.wren.teacher import Request, Teacher, fill_pool
from training.wren.trainer import BatchShape, Step, Trainer, capture, compile_modules
from training.wren.voices import StyleTables

_LOG_SECONDS = 5.0
_STEPS_PER_SYNC = 25
_STEPS_PER_EMA = 10
_WARMUP_STEPS = 300
_ADVERSARIAL_WARMUP_STEPS = 1200
_SPECTRAL_SECONDS = 120.0
_FINAL_LEARNING_RATE = 0.03
"""As a fraction of the base learning rate."""
_HELD_OUT_SECONDS = 20.0
"""Time kept back at the end for synthesizing held-out sentences."""
_TEACHER_CHECK_SENTENCES = 4


class Run:
    """Clock, log, learning rate and checkpoints of one run."""

    def __init__(self, options: argparse.Namespace, began: float) -> None:
        self.options = options
        self.began = began
        self.folder: Path = options.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.steps = 0
        self.adversarial_steps = 0
        self.trained_seconds = 0.0
        self.stopped = False
        self._log = (self.folder / "log.jsonl").open("a", encoding="utf-8")
        signal.signal(signal.SIGTERM, self._stop)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopped = True

    @property
    def elapsed(self) -> float:
        return time.time() - self.began

    @property
    def end(self) -> float:
        """Second of this run at which training stops."""
        return float(self.options.seconds - (_HELD_OUT_SECONDS if self.options.held_out else 5.0))

    def log(self, **values: object) -> None:
        """Print a line of JSON and append it to the log."""
        line = json.dumps({"seconds": round(self.elapsed, 1), **values})
        print(line, flush=True)
        self._log.write(line + "\n")
        self._log.flush()

    def learning_rate(self, base: float, steps: int) -> float:
        """Linear warm-up over the first steps of a phase, constant, half a cosine at the end."""
        left = max(0.0, self.end - self.elapsed)
        anneal = max(1.0, float(self.options.anneal_seconds))
        cosine = 0.5 * (1 - math.cos(math.pi * min(1.0, left / anneal)))
        decay = _FINAL_LEARNING_RATE + (1 - _FINAL_LEARNING_RATE) * cosine
        return base * decay * min(1.0, (steps + 1) / _WARMUP_STEPS)

    def resume(self, progress: Progress) -> None:
        self.steps, self.adversarial_steps = progress.steps, progress.adversarial_steps
        self.trained_seconds = progress.seconds

    def save(self, trainer: Trainer) -> None:
        """Write a checkpoint, unless weights are non-finite."""
        if not all(bool(parameter.isfinite().all()) for parameter in trainer.student.parameters()):
            self.log(non_finite=self.steps)
            return
        progress = Progress(self.steps, self.adversarial_steps, self.trained_seconds)
        Checkpoint.of(trainer, progress).write(self.folder / "checkpoint")
        self.log(saved=asdict(progress))


class Phase:
    """Repeats one kind of step, and rolls back to the last finite state where metrics become NaN."""

    def __init__(self, run: Run, trainer: Trainer, step: Step, *, adversarial: bool) -> None:
        self._run, self._trainer, self._step, self._adversarial = run, trainer, step, adversarial
        self._rates = self._base_rates(run.options)
        self._backup: list[Tensor] = []
        self._count = 0
        self._logged_at, self._logged_count = run.elapsed, 0

    def _base_rates(self, options: argparse.Namespace) -> tuple[float, float]:
        student = options.adversarial_learning_rate if self._adversarial else options.learning_rate
        return student, options.discriminator_learning_rate

    def train(self, until: float) -> None:
        """Take steps until this second of the run, its signal to stop, or the limit of steps."""
        run, options = self._run, self._run.options
        began, saved, trained_before = run.elapsed, run.elapsed, run.trained_seconds
        while run.elapsed < until and not run.stopped and (not options.steps or self._count < options.steps):
            self._take_step()
            run.trained_seconds = trained_before + run.elapsed - began
            if run.elapsed - self._logged_at > _LOG_SECONDS or self._count == 1:
                self._log_metrics()
            if run.elapsed - saved > options.checkpoint_seconds:
                run.save(self._trainer)
                saved = run.elapsed

    def set_schedule(self) -> None:
        """Set learning rates and the adversarial weight for the coming step."""
        run, trainer = self._run, self._trainer
        student, discriminators = (run.learning_rate(base, self._count) for base in self._rates)
        trainer.set_learning_rates(student, discriminators)
        if self._adversarial:
            warmup = min(1.0, (run.adversarial_steps + 1) / _ADVERSARIAL_WARMUP_STEPS)
            trainer.adversarial_weight.fill_(run.options.adversarial_weight * warmup)

    def _take_step(self) -> None:
        run, trainer = self._run, self._trainer
        self.set_schedule()
        self._step()
        self._count += 1
        run.steps += 1
        run.adversarial_steps += int(self._adversarial)
        if self._count % _STEPS_PER_EMA == 0:
            trainer.update_ema(max(run.options.ema_weight, 1 / (run.steps / _STEPS_PER_EMA + 1)))
        if trainer.device.type == "cuda" and self._count % _STEPS_PER_SYNC == 0:
            torch.cuda.synchronize()

    def _log_metrics(self) -> None:
        run, trainer = self._run, self._trainer
        metrics = dict(zip(trainer.metric_names, (round(value, 4) for value in trainer.metrics.tolist()), strict=True))
        rate = (self._count - self._logged_count) / max(1e-6, run.elapsed - self._logged_at)
        run.log(step=run.steps, adversarial=self._adversarial, steps_per_second=round(rate, 1), **metrics)
        self._back_up(finite=all(map(math.isfinite, metrics.values())))
        self._logged_at, self._logged_count = run.elapsed, self._count

    @torch.no_grad()
    def _back_up(self, *, finite: bool) -> None:
        state = self._trainer.mutable_state()
        if finite and len(self._backup) != len(state):
            self._backup = [tensor.detach().clone() for tensor in state]
        elif finite:
            for copy, tensor in zip(self._backup, state, strict=True):
                copy.copy_(tensor)
        elif len(self._backup) == len(state):
            self._run.log(rolled_back=self._run.steps)
            for copy, tensor in zip(self._backup, state, strict=True):
                tensor.copy_(copy)


def train(run: Run, trainer: Trainer) -> None:
    """Run all phases."""
    options = run.options
    spectral_seconds = options.spectral_seconds
    if spectral_seconds is None:
        spectral_seconds = max(0.0, _SPECTRAL_SECONDS - run.trained_seconds)
    if options.mode == "compile":
        compile_modules(trainer)
    phases = [(trainer.adversarial_step, run.end, True)]
    if spectral_seconds > 0:
        phases.insert(0, (trainer.spectral_step, min(run.end, run.elapsed + spectral_seconds), False))
    for step, until, adversarial in phases:
        Phase(run, trainer, step, adversarial=adversarial).set_schedule()
        taken = step if options.mode == "eager" or trainer.device.type != "cuda" else capture(step)
        run.log(phase="adversarial" if adversarial else "spectral", mode=options.mode)
        Phase(run, trainer, taken, adversarial=adversarial).train(until)
        run.save(trainer)


def main(arguments: Sequence[str] | None = None) -> None:
    """Synthesize the pool, train, save, and synthesize held-out sentences."""
    began = time.time()
    options = _parser().parse_args(arguments)
    run = Run(options, began)
    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    _set_up(device, options.seed)
    voices = StyleTables.read(options.kokoro / "voices", device, dict(options.favour), options.far)
    lines = PhonemeLines(options.data / "lines.npz", options.ids_per_batch)
    sentences = read_sentences(options.data / "held_out.json")
    teacher = Teacher(options.kokoro / "model.onnx", device)
    checked = [sentence for sentence in sentences if sentence.language == "a"][:_TEACHER_CHECK_SENTENCES]
    variant = teacher.optimize([Request(row.ids, voices.style({"af_heart": 1.0}, len(row.ids))) for row in checked])
    run.log(teacher=variant, torch=torch.__version__)
    torch.manual_seed(options.seed)
    pool = SpeechPool(options.pool_hours, device)
    fill_pool(pool, teacher, lines, voices, options.pool_seconds, options.seed)
    run.log(pool_hours=round(pool.seconds / 3600, 2), utterances=pool.utterances)
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.backends.cudnn.benchmark = True
    trainer = _trainer(options, pool)
    if options.resume is not None:
        progress = Checkpoint.read(options.resume).restore(trainer)
        run.resume(progress)
        run.log(resumed=asdict(progress))
    run.log(parameters=sum(parameter.numel() for parameter in trainer.student.parameters()))
    train(run, trainer)
    if options.held_out:
        # Sentences have lengths of their own, which are not worth cuDNN's search.
        torch.backends.cudnn.benchmark = False
        write_archive(teacher, trainer.ema, voices, sentences, run.folder / "held_out.npz", options.sentences)
    run.log(done=run.steps)


def _trainer(options: argparse.Namespace, pool: SpeechPool) -> Trainer:
    refiner = RefinerConfig(options.refiner_width, options.refiner_blocks)
    config = WrenConfig(
        width=options.width, blocks=options.blocks, utterance_dim=options.utterance_dim, refiner=refiner
    )
    discriminators = Discriminators() if options.band_discriminators else Discriminators(band_sizes=())
    if pool.device.type == "cuda":
        discriminators.streams = [torch.cuda.Stream() for _ in range(options.streams)]  # type: ignore[no-untyped-call]
    loss = SpectralLoss(balanced=options.balanced_loss)
    return Trainer(Wren(config), discriminators, pool, BatchShape(options.batch, options.frames), loss)


def _voice_weight(text: str) -> tuple[str, int]:
    """`NAME=WEIGHT`, the weight at least 1."""
    name, _, weight = text.partition("=")
    return name, max(1, int(weight))


def _set_up(device: torch.device, seed: int) -> None:
    torch.manual_seed(seed)
    if device.type == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True
    else:
        torch.set_num_threads(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.wren.train", description=__doc__)
    parser.add_argument("data", type=Path, help="folder of lines.npz and held_out.json")
    parser.add_argument("kokoro", type=Path, help="Kokoro's bundle: model.onnx and voices/")
    parser.add_argument("folder", type=Path, help="folder of this run")
    parser.add_argument("--seconds", type=float, default=1200, help="for everything")
    parser.add_argument("--pool-seconds", type=float, default=60, help="for synthesizing training speech")
    parser.add_argument(
        "--spectral-seconds",
        type=float,
        help="of this run without discriminators; of all runs together 120 if not given",
    )
    parser.add_argument("--anneal-seconds", type=float, default=240)
    parser.add_argument("--checkpoint-seconds", type=float, default=120, help="between checkpoints")
    parser.add_argument("--ids-per-batch", type=int, default=6_000, help="phonemes in one batch of the teacher's")
    parser.add_argument("--pool-hours", type=float, default=60, help="capacity for training speech")
    parser.add_argument("--resume", type=Path, help="folder of a checkpoint; choose another --seed for other speech")
    parser.add_argument("--mode", choices=("graph", "eager", "compile"), default="graph", help="how steps are executed")
    parser.add_argument("--streams", type=int, default=0, help="CUDA streams that share out the discriminators")
    parser.add_argument("--band-discriminators", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--balanced-loss", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument(
        "--favour", type=_voice_weight, nargs="*", default=[], metavar="VOICE=WEIGHT", help="voices to draw more often"
    )
    parser.add_argument(
        "--far", type=float, default=0.0, help="share of utterances in styles as far from all voices as fitted ones"
    )
    parser.add_argument("--batch", type=int, default=BatchShape().segments)
    parser.add_argument("--frames", type=int, default=BatchShape().frames, help="per segment, 80 to the second")
    parser.add_argument("--width", type=int, default=WrenConfig().width)
    parser.add_argument("--blocks", type=int, default=WrenConfig().blocks)
    parser.add_argument("--refiner-blocks", type=int, default=4, help="0 for no refiner, as in the first three runs")
    parser.add_argument("--refiner-width", type=int, default=RefinerConfig().width)
    parser.add_argument("--utterance-dim", type=int, default=64, help="of what blocks are told of the whole utterance")
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="in the spectral phase")
    parser.add_argument("--adversarial-learning-rate", type=float, default=3e-4)
    parser.add_argument("--discriminator-learning-rate", type=float, default=2e-4)
    parser.add_argument("--adversarial-weight", type=float, default=1.0, help="relative to the spectral gradient")
    parser.add_argument("--ema-weight", type=float, default=0.01, help="of the student in its EMA, per 10 steps")
    parser.add_argument("--steps", type=int, default=0, help="limit in each phase")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="")
    parser.add_argument("--sentences", type=int, default=3, help="held-out sentences of each English speaker")
    parser.add_argument("--no-held-out", dest="held_out", action="store_false")
    return parser


if __name__ == "__main__":
    main()
