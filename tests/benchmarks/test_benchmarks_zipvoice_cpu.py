"""The CPU benchmark of ZipVoice at toy size: what is compared says the same, and every figure is reported."""

from dataclasses import replace

import pytest
import torch

from benchmarks import zipvoice, zipvoice_cpu
from benchmarks.zipvoice_cpu import ZipVoiceBench, cost, line_of, measure, ratios, signal_to_noise
from polyvox.models.zipvoice.flow import SolverOptions
from polyvox.models.zipvoice.model import ZipVoiceConfig, load_zipvoice
from polyvox.models.zipvoice.zipformer import ZipformerConfig

SMALL = {"heads": 2, "layers": (1, 1), "kernels": (5, 3), "downsampling": (1, 2), "feed_forward": 16}
TEXT = ZipformerConfig(8, 100, 8, heads=2, layers=(1,), kernels=(3,), downsampling=(1,), feed_forward=16)
DECODER = ZipformerConfig(300, 100, 16, **SMALL, time=16)


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (zipvoice, zipvoice_cpu):
        monkeypatch.setattr(module, "TEXT", TEXT)
        monkeypatch.setattr(module, "DECODER", DECODER)
        monkeypatch.setattr(module, "CHUNK_SECONDS", (0.3, 0.5))
    monkeypatch.setattr(zipvoice_cpu, "PROMPT_SECONDS", 0.4)


@pytest.mark.long
@pytest.mark.anyio
@pytest.mark.parametrize(("distilled", "rounds"), [(True, 2), (False, 1)])
async def test_all_figures_are_reported(distilled: bool, rounds: int) -> None:
    steps: list[str] = []
    checks = await measure(distilled=distilled, steps=[1], rounds=rounds, threads=1, progress=steps.append)
    names = [check.name for check in checks]
    model = "distilled" if distilled else "base"
    assert names[:4] == [
        f"{model}, 1 steps: CPU",
        f"{model}, 1 steps: original's order, CPU",
        f"{model}, 1 steps: ours / original's order",
        f"{model}, 1 steps: ours / original's, straightened",
    ]
    assert names[4:8] == [
        f"{model}, 4 steps: 8 at once, CPU",
        f"{model}, 4 steps: one on one thread, CPU",
        f"{model}: 8 at once / one",
        f"{model}: 8 at once / one on one thread",
    ]
    assert [check.limit for check in checks if check.limit] == [0.8, 0.9] + [1.0, 1.0] * distilled
    assert any("8 bits" in name for name in names) == distilled
    assert all(check.low <= check.value <= check.high for check in checks)
    assert f"{model}, 8 at once, round {rounds} of {rounds}" in steps


@pytest.mark.long
@pytest.mark.anyio
async def test_what_runs_on_one_thread_leaves_the_others_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    bench = ZipVoiceBench(distilled=True, rounds=1, progress=lambda _: None)
    velocities = bench.network.decode

    def watched(rows):
        seen.append(torch.get_num_threads())
        return velocities(rows)

    monkeypatch.setattr(bench.network, "decode", watched)
    networks = replace(zipvoice.random_networks(torch.device("cpu"), distilled=True), acoustic_model=bench.network)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        async with (
            zipvoice_cpu.synthesis_on_one_thread(networks) as narrow,
            zipvoice_cpu.synthesis_of(networks) as wide,
        ):
            assert torch.get_num_threads() == 2
            for synthesis, threads in ((narrow, 1), (wide, 2)):
                seen.clear()
                await zipvoice.figures(synthesis, 1, zipvoice_cpu.manner_of(1, distilled=True), 0.4)
                assert set(seen) == {threads}
    finally:
        torch.set_num_threads(before)


@pytest.mark.long
@pytest.mark.parametrize("distilled", [True, False])
@pytest.mark.parametrize("straight", [True, False])
def test_both_orders_of_operations_come_to_the_same(distilled: bool, straight: bool) -> None:
    config = ZipVoiceConfig(zipvoice.TOKENS, 100, TEXT, DECODER, distilled=distilled)
    original = zipvoice_cpu.seeded_original(config)
    original.straighten(straight)
    ours = load_zipvoice(config, original.state_dict())
    line = line_of(0.5)
    noise = torch.randn(line.frames, 100, generator=torch.Generator().manual_seed(1))
    solver = SolverOptions(4, 2.0)
    flows = ours.start([line], [noise], [solver])
    while not flows[0].done:
        flows = ours.step(flows)
    torch.testing.assert_close(flows[0].generated, original(line, noise, solver), atol=1e-4, rtol=0)


def test_a_ratio_is_of_one_round() -> None:
    assert ratios([1.0, 3.0], [2.0, 4.0]) == [0.5, 0.75]
    assert cost(zipvoice.ZipVoiceFigures(1, (0.5,), audio_seconds=10.0, wall_seconds=5.0, cpu_seconds=20.0)) == 2.0


@pytest.mark.long
def test_noise_is_measured_in_decibels() -> None:
    bench = ZipVoiceBench(distilled=True, rounds=1, progress=lambda _: None)

    class Louder:
        start = bench.network.start

        def step(self, flows, frames_per_call=None):
            return [flow.advance(bench.network.velocities([flow])[0] + 0.01) for flow in flows]

    assert signal_to_noise(Louder(), bench.network) == pytest.approx(40, abs=10)
