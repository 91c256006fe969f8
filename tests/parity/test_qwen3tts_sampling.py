"""Sampled speech of Qwen3-TTS: with the original's random variates, our scheduler draws the original's codes."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from helpers.qwen3tts_golden import cases, golden, ids, input_rows, single_cases, talker
from polyvox.engines.qwen3tts.bundle import SamplingDefaults
from polyvox.engines.qwen3tts.frame_steps import PredictorSteps
from polyvox.engines.qwen3tts.tuning import Qwen3TtsTuning
from polyvox.models.qwen3tts.talker_lm import TalkerLm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.sampling import sampler
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams

pytestmark = pytest.mark.anyio
MAKERS = SamplingDefaults(
    SamplingParams(temperature=0.9, top_k=50, repetition_penalty=1.05), SamplingParams(temperature=0.9, top_k=50)
)
_ROLE, _TEXT_END = 3, -5
_TOLERANCE = 2e-5


class RecordedDraws:
    """Draws as the original did, argmax(p / e), with its variates e; checks each p against the recorded one."""

    def __init__(self, name: str) -> None:
        model = talker("base").config
        given = golden("sampled")
        may_be_sampled = [*range(model.codes), model.codec_ids.eos]
        self._first = self._rows(given[f"{name}.talker_probs"], given[f"{name}.talker_exp"], may_be_sampled)
        probs, variates = (given[f"{name}.predictor_{kind}"].flatten(0, 1) for kind in ("probs", "exp"))
        self._following = self._rows(probs, variates, list(range(model.codes)))
        self._codes = model.codes
        self.checked = [0, 0]
        """Draws of first codes and of those behind them."""

    @staticmethod
    def _rows(probs: Tensor, variates: Tensor, sampled: list[int]) -> Iterator[tuple[Tensor, Tensor]]:
        assert torch.allclose(probs[:, sampled].sum(dim=-1), torch.ones(len(probs)))
        return iter(zip(probs[:, sampled], variates[:, sampled], strict=True))

    def __call__(self, weights: Tensor, uniform: Tensor) -> Tensor:
        """Stands in for `sample_index`; behind the recorded draws, the likeliest code."""
        assert weights.shape[0] == len(uniform) == 1
        following = weights.shape[-1] == self._codes
        row = next(self._following if following else self._first, None)
        if row is None:
            return weights.argmax(dim=-1)
        probs, variates = row
        torch.testing.assert_close((weights / weights.sum())[0], probs, rtol=0, atol=_TOLERANCE)
        self.checked[following] += 1
        return (weights / variates).argmax(dim=-1)


async def spoken(name: str, defaults: SamplingDefaults, max_frames: int) -> list[list[int]]:
    network, rows = talker("base"), input_rows(name)
    config = LmSchedulerConfig(slots=1, capacity=128, nested_top_p=True)
    frames = PredictorSteps(network, config.slots, 64, fused=False)
    scheduler = LmScheduler(TalkerLm(network), config, executor=DeviceExecutor("lm", 1), frames=frames)
    text = (*ids(f"{name}.input_ids")[_ROLE:_TEXT_END], network.config.text_ids.eos)
    limits = GenerationLimits(max_frames, min_tokens=2, stop_tokens=frozenset({network.config.codes}))
    codes: list[int] = []
    async with scheduler.open(defaults.first, defaults.following) as sequence:
        sequence.add_text(text[len(text) - len(rows.trailing) :], ended=True)
        stream = sequence.extend(Prompt(embeds=rows.prompt), limits)
        while read := await stream.read():
            codes += read
    await scheduler.close()
    groups = network.config.groups
    return [codes[start : start + groups] for start in range(0, len(codes), groups)]


@pytest.mark.long
async def test_sampled_codes_and_their_probabilities_are_the_originals(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in single_cases(sampled=True):
        args = cases()[name]["args"]
        assert isinstance(args, dict)
        given = {key: value for key, value in args.items() if key in Qwen3TtsTuning.model_fields}
        frames = int(given.pop("max_new_tokens")) - 1
        draws = RecordedDraws(name)
        monkeypatch.setattr(sampler, "sample_index", draws)
        wanted = golden("sampled")[f"{name}.codes"]
        assert await spoken(name, Qwen3TtsTuning.of(given).applied(MAKERS), frames) == wanted.tolist(), name
        stopped = bool(cases()[name]["stopped_by_eos"])
        # The draw that ends speech has no frame; the recorded draw behind the last frame that was allowed is not made.
        assert draws.checked == [len(wanted) + stopped, len(wanted) * (wanted.shape[1] - 1)]
