"""ZipVoice's flow matching: the input of one row, the solver's schedule, and the row's state between steps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class ZipVoiceInput:
    """Tokens to speak, and the prompt's tokens and mel [frames, features]."""

    tokens: Sequence[int]
    prompt_tokens: Sequence[int]
    prompt: Tensor
    speed: float = 1.0

    @property
    def frames(self) -> int:
        """All frames, the prompt's included."""
        prompt = len(self.prompt)
        return prompt + target_frames(prompt, len(self.prompt_tokens), len(self.tokens), self.speed)


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """Euler steps, guidance scale, and the shift of the time schedule."""

    steps: int
    guidance: float
    shift: float = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class SolverState:
    """One row between two steps of the solver.

    `mel` and `speech_condition` are [frames, features], `text_condition` is [frames, bins].
    """

    mel: Tensor
    text_condition: Tensor
    speech_condition: Tensor
    prompt_frames: int
    times: tuple[float, ...]
    guidance: float
    step: int = 0

    @property
    def done(self) -> bool:
        return self.step == len(self.times) - 1

    @property
    def time(self) -> float:
        return self.times[self.step]

    @property
    def generated(self) -> Tensor:
        """The mel without the prompt's part, [frames, features]."""
        return self.mel[self.prompt_frames :]

    def advance(self, velocity: Tensor) -> "SolverState":
        """The state after one Euler step along `velocity`."""
        delta = self.times[self.step + 1] - self.time
        return replace(self, mel=self.mel + velocity * delta, step=self.step + 1)


def initial_states(
    inputs: Sequence[ZipVoiceInput],
    text_conditions: Sequence[Tensor],
    noise: Sequence[Tensor],
    options: Sequence[SolverOptions],
) -> list[SolverState]:
    """States before the first step; the noise of each row is [frames, features]."""
    states = []
    for row, text_condition, start, solver in zip(inputs, text_conditions, noise, options, strict=True):
        speech_condition = row.prompt.new_zeros(row.frames, row.prompt.shape[1])
        speech_condition[: len(row.prompt)] = row.prompt
        if start.shape != speech_condition.shape:
            raise ValueError(f"The noise is {tuple(start.shape)}, not {tuple(speech_condition.shape)}.")
        times = time_schedule(solver.steps, solver.shift)
        states.append(SolverState(start, text_condition, speech_condition, len(row.prompt), times, solver.guidance))
    return states


def target_frames(prompt_frames: int, prompt_tokens: int, tokens: int, speed: float) -> int:
    """The length of the speech: as many frames a token as the prompt has, in single precision as published."""
    if min(prompt_frames, prompt_tokens, tokens) < 1:
        raise ValueError("Neither the prompt nor the text to speak may be without tokens or frames.")
    pace = np.float32(prompt_frames) / np.float32(prompt_tokens)
    return int(np.ceil(pace * np.float32(tokens) / np.float32(speed)))


def token_indices(tokens: int, frames: int) -> list[int]:
    """The token that each frame speaks: the same number of frames for each, and the pad behind them for the rest.

    Where there are fewer frames than tokens, some tokens are skipped.
    """
    frame = np.arange(frames)
    index = frame * tokens // frames if frames < tokens else np.minimum(frame // (frames // tokens), tokens)
    indices: list[int] = index.tolist()
    return indices


def time_schedule(steps: int, shift: float) -> tuple[float, ...]:
    """The `steps` + 1 times from 0 to 1 between which steps are taken; a shift below 1 makes the first ones short."""
    even = torch.linspace(0, 1, steps + 1)
    times: list[float] = (shift * even / (1 + (shift - 1) * even)).tolist()
    return tuple(times)
