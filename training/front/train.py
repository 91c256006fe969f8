"""`python -m training.front.train`: teach a small transformer what ALBERT gives Kokoro's prosody predictor.

By regression on ALBERT's outputs, which are computed once and stay in device memory: an error counts by what the
predictor's first layer makes of it. Held-out lines are judged by what the predictor makes of them, with random styles.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from polyvox.models.kokoro import albert, prosody
from polyvox.models.kokoro.adain import fold_styled_norms
from polyvox.models.kokoro.albert import Albert, AlbertConfig
from polyvox.models.kokoro.distilled_bert import DistilledBert, DistilledBertConfig
from polyvox.models.kokoro.model import KokoroConfig
from polyvox.models.kokoro.prosody import ProsodyPredictor
from polyvox.models.kokoro.ragged import Ragged, StaticRagged, gather_rows
from polyvox.models.loading import fold_weight_norm, load, renamed, under
from training.front.lines import DeviceLines, LineBatch
from training.front.teacher_weights import ROWS_APART, STYLES

_WARM_UP_STEPS = 400
_TARGET_IDS = 32_768
_PLAIN_SHARE = 0.1
"""Weight of the plain squared error beside that of the predictor's first layer."""
_FRAMES_LIMIT = 900
_VOICED_HZ = 10.0
_CENTS = 1_200.0


class Predictor:
    """Kokoro's ALBERT and prosody predictor, frozen."""

    def __init__(self, file: Path, device: torch.device) -> None:
        state = {name: tensor.to(device) for name, tensor in load_file(file).items()}
        self.styles = state.pop(STYLES).float()
        config = KokoroConfig()
        folded = fold_styled_norms(fold_weight_norm({name: tensor.float() for name, tensor in state.items()}))
        parts = {part: under(f"{part}.", folded) for part in ("bert", "bert_encoder", "predictor")}
        without = {name: tensor for name, tensor in parts["bert"].items() if not name.startswith("pooler.")}
        without.pop("embeddings.position_ids", None)
        self.bert = load(lambda: Albert(AlbertConfig()), renamed(albert.NAMES, without)).to(device)
        self.output = load(lambda: nn.Linear(config.bert.hidden, config.width), parts["bert_encoder"]).to(device)
        self.predictor = load(
            lambda: ProsodyPredictor(config.width, config.style, config.layers, config.max_frames),
            renamed(prosody.NAMES, parts["predictor"]),
        ).to(device)
        self.width = config.width

    @torch.no_grad()
    def bert_rows(self, batch: LineBatch) -> Tensor:
        """What the predictor takes, [rows, time, width]."""
        out: Tensor = self.output(self.bert(batch.ids, StaticRagged(batch.ends, batch.ids.shape[1])))
        return out

    def first_layer(self) -> Tensor:
        """A triangular matrix: the squared length of an error behind it is that behind the first LSTM's weights."""
        lstm = self.predictor.text_encoder.lstms[0]
        assert isinstance(lstm, nn.LSTM)
        inputs = dict(lstm.named_parameters())
        both = torch.cat((inputs["weight_ih_l0"], inputs["weight_ih_l0_reverse"]))
        weights = both[:, : self.width].double()
        gram = weights.T @ weights / len(weights)
        damped = gram + 1e-6 * gram.diagonal().mean() * torch.eye(self.width, device=gram.device, dtype=gram.dtype)
        factor: Tensor = torch.linalg.cholesky(damped)
        return factor.T.float()

    def random_styles(self, ends: Tensor, generator: torch.Generator) -> Tensor:
        """A style for each line: a voice, a mix of two, or one moved away from all; [rows, 256]."""
        rows, device = len(ends), ends.device
        at = (ends // ROWS_APART).clamp(max=self.styles.shape[1] - 1)
        voices = torch.randint(len(self.styles), (2, rows), generator=generator, device=device)
        share = torch.rand(rows, 1, generator=generator, device=device)
        share = torch.where(
            torch.rand(rows, 1, generator=generator, device=device) < 0.5, torch.ones_like(share), share
        )
        style = share * self.styles[voices[0], at] + (1 - share) * self.styles[voices[1], at]
        moved = torch.rand(rows, 1, generator=generator, device=device) < 0.25
        noise = torch.randn(style.shape, generator=generator, device=device) * self.styles.std(dim=(0, 1))
        return style + moved * 0.4 * torch.rand(rows, 1, generator=generator, device=device) * noise


@dataclass(frozen=True, slots=True)
class Spoken:
    """Durations before rounding [rows, time], pitch in hertz and energy [rows, 2 frames]."""

    durations: Tensor
    pitch: Tensor
    energy: Tensor


def speak(
    teacher: Predictor, rows: Tensor, style: Tensor, lines: Ragged, aligned: tuple[Tensor, Ragged] | None
) -> tuple[Spoken, tuple[Tensor, Ragged]]:
    """Prosody of what ALBERT or its student gives, on the frames of `aligned` or else on those of its own durations."""
    prosodic = style[:, 128:]
    encoded = teacher.predictor.encode(rows, prosodic, lines)
    durations = teacher.predictor.durations(encoded, lines)
    if aligned is None:
        inside = torch.arange(rows.shape[1], device=rows.device) < lines.ends[:, None]
        whole = (durations.round().clamp(min=1) * inside).long()
        ends = whole.cumsum(dim=1)
        frames = Ragged(ends[:, -1].tolist(), rows.device)
        positions = torch.arange(frames.longest, device=rows.device).expand(len(ends), -1).contiguous()
        tokens = torch.searchsorted(ends, positions, right=True).clamp(max=rows.shape[1] - 1)
        aligned = tokens, frames
    tokens, frames = aligned
    pitch, energy = teacher.predictor.contours(gather_rows(encoded, tokens), prosodic, frames)
    return Spoken(durations, pitch, energy), aligned


def agreement(ours: Spoken, wanted: Spoken, batch: LineBatch, frames: Ragged) -> dict[str, float]:
    """The share of equal durations, and how far pitch is off where it is voiced, and energy."""
    inside = batch.inside.float()
    of_frames = torch.arange(wanted.pitch.shape[1], device=inside.device) < 2 * frames.ends[:, None]
    voiced = of_frames & (wanted.pitch > _VOICED_HZ)
    same = ours.durations.round().clamp(min=1) == wanted.durations.round().clamp(min=1)
    cents = (ours.pitch.clamp(min=_VOICED_HZ) / wanted.pitch.clamp(min=_VOICED_HZ)).log2().abs() * voiced
    energy = (ours.energy - wanted.energy).abs() * of_frames
    return {
        "same_durations": ((same * inside).sum() / inside.sum()).item(),
        "cents": (_CENTS * cents.sum() / voiced.sum().clamp(min=1)).item(),
        "energy": (energy.sum() / of_frames.sum()).item(),
    }


def regression_loss(ours: Tensor, wanted: Tensor, inside: Tensor, first_layer: Tensor, scale: Tensor) -> Tensor:
    """Squared errors behind the predictor's first layer, and plain ones, by their spread."""
    error = (ours.float() - wanted.float()) * inside[:, :, None]
    count = inside.sum()
    behind = (error @ first_layer.T).square().sum() / (count * scale[0])
    return behind + _PLAIN_SHARE * error.square().sum() / (count * scale[1])


@contextmanager
def _fast() -> Iterator[None]:
    with torch.autocast("cuda" if torch.cuda.is_available() else "cpu", torch.bfloat16):
        yield


class Training:
    """A student, its teacher and their lines."""

    def __init__(self, student: DistilledBert, teacher: Predictor, lines: DeviceLines, seed: int) -> None:
        self.student, self.teacher, self.lines = student, teacher, lines
        self.generator = torch.Generator(lines.device).manual_seed(seed)
        self.targets = torch.empty(lines.ids, teacher.width, dtype=torch.float16, device=lines.device)
        for batch in lines.all_batches(_TARGET_IDS):
            inside = batch.inside
            self.targets[batch.places[inside]] = teacher.bert_rows(batch)[inside].half()
        self.first_layer = teacher.first_layer()
        some = self.targets[:200_000].float()
        centred = some - some.mean(dim=0)
        self.scale = torch.stack(
            ((centred @ self.first_layer.T).square().sum(1).mean(), centred.square().sum(1).mean())
        )

    def regression(self, batch: LineBatch) -> Tensor:
        """The loss of one batch by ALBERT's outputs."""
        with _fast():
            rows = self.student(batch.ids, StaticRagged(batch.ends, batch.ids.shape[1]))
        return regression_loss(rows, self.targets[batch.places], batch.inside, self.first_layer, self.scale)

    @torch.no_grad()
    def judged(self, batch: LineBatch) -> dict[str, float] | None:
        """Figures of one batch in single precision; None where a random style speaks for too long."""
        lines = Ragged(batch.ends.tolist(), batch.ids.device)
        ids, wide = batch.ids[:, : lines.longest], lines.longest
        style = self.teacher.random_styles(batch.ends, self.generator)
        target = self.targets[batch.places].float()[:, :wide]
        wanted, aligned = speak(self.teacher, target, style, lines, None)
        if aligned[1].longest > _FRAMES_LIMIT:
            return None
        rows = self.student(ids, lines).float()
        ours, _ = speak(self.teacher, rows, style, lines, aligned)
        trimmed = LineBatch(ids, batch.ends, batch.places[:, :wide])
        plain = regression_loss(rows, target, trimmed.inside, self.first_layer, self.scale)
        return agreement(ours, wanted, trimmed, aligned[1]) | {"regression": plain.item()}

    @torch.no_grad()
    def held_out(self, batches: int) -> dict[str, float]:
        """Means over held-out lines, in single precision."""
        self.generator.manual_seed(1)
        found: list[dict[str, float]] = []
        for index, batch in enumerate(self.lines.held_out_batches(8_192)):
            if index == batches:
                break
            figures = self.judged(batch)
            if figures is not None:
                found.append(figures)
        return {name: round(sum(row[name] for row in found) / len(found), 5) for name in found[0]}


def _rate(progress: float, step: int, highest: float) -> float:
    """Warm-up by steps, then half a cosine by the time that has passed."""
    return highest * min(1.0, (step + 1) / _WARM_UP_STEPS) * 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))


def _train(training: Training, seconds: float, ids_per_batch: int, rate: float) -> None:
    """Train for so many seconds."""
    parameters = list(training.student.parameters())
    optimizer = torch.optim.AdamW(
        parameters, lr=rate, betas=(0.9, 0.98), weight_decay=0.01, fused=training.lines.device.type == "cuda"
    )
    start, step, said = time.monotonic(), 0, 0.0
    for batch in training.lines.epochs(ids_per_batch, seed=11):
        passed = time.monotonic() - start
        if passed >= seconds:
            break
        for group in optimizer.param_groups:
            group["lr"] = _rate(passed / seconds, step, rate)
        loss = training.regression(batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        step += 1
        if passed - said > 20:
            said = passed
            row = {"seconds": round(passed, 1), "step": step, "loss": loss.item()}
            print(json.dumps(row | training.held_out(4)), flush=True)
    print(json.dumps({"steps": step} | training.held_out(1_000)), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and write `distilled_bert.safetensors` in 16 bits."""
    parser = argparse.ArgumentParser(prog="python -m training.front.train", description=__doc__)
    parser.add_argument("lines", type=Path)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=460.0)
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch", type=int, default=65_536, help="ids a step")
    parser.add_argument("--learning-rate", type=float, default=1.5e-3)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--held-out", type=int, default=2_000, help="lines that are not drawn")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args(arguments)
    began, device = time.monotonic(), torch.device(options.device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(3)
    config = DistilledBertConfig(width=options.width, layers=options.layers, feed_forward=4 * options.width)
    student = DistilledBert(config)
    _initialise(student)
    if options.resume:
        student.load_state_dict({name: tensor.float() for name, tensor in load_file(options.resume).items()})
    student.to(device)
    teacher = Predictor(options.teacher, device)
    training = Training(student, teacher, DeviceLines(options.lines, device, options.held_out), seed=3)
    print(json.dumps({"ids": training.lines.ids, "ready": round(time.monotonic() - began, 1)}), flush=True)
    _train(training, options.seconds, options.batch, options.learning_rate)
    _write(student, options.out)


def _initialise(student: DistilledBert) -> None:
    for name, parameter in student.named_parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=0.02)
            if name.endswith(("merge.weight", "contract.weight")):
                parameter.data /= math.sqrt(2 * student.config.layers)
        else:
            nn.init.zeros_(parameter)


def _write(student: DistilledBert, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.detach().half().cpu().contiguous() for name, tensor in student.state_dict().items()}
    save_file(state, out / "distilled_bert.safetensors")


if __name__ == "__main__":
    main()
