"""Whole chunks in padded batches, eagerly and as CUDA graphs would replay them, against each chunk step by step."""

import copy
from functools import cache

import pytest
import torch

from helpers.replaying import Poisoned
from helpers.zipvoice_golden import BASE, DISTILLED, STEREO, difference, seeded, zipvoice
from polyvox.engines.zipvoice import batch_solver
from polyvox.engines.zipvoice.batch_solver import FEATURE_SCALE, BatchShape, BatchSolver, ChunkRow
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput
from polyvox.models.zipvoice.vocos import Vocos, VocosConfig
from polyvox.text.tokenizers.vocabulary import TokenVocabulary

pytestmark = pytest.mark.long

CPU = torch.device("cpu")
ROUNDING = 2e-5
VARIANTS = pytest.mark.parametrize("variant", [BASE, DISTILLED, STEREO])
PLANS = ((9, 23, 1.0, 1.0, 0.5), (4, 31, 1.3, 2.0, 1.0), (13, 18, 0.8, 0.0, 0.5), (1, 40, 1.0, 3.0, 0.2))
"""Tokens to speak, prompt frames, speed, guidance and time shift."""


@cache
def networks(variant):
    """The goldens' acoustic model, and a vocoder of random weights for its number of mel bands."""
    config, generator = zipvoice(variant).config, seeded(3)
    vocos = Vocos(VocosConfig(bins=config.bins, width=16, hidden=24, blocks=2, fft=64, hop=16))
    for parameter in vocos.requires_grad_(False).parameters():
        parameter.normal_(std=0.2, generator=generator)
    return ZipVoiceNetworks(zipvoice(variant), vocos.eval(), TokenVocabulary({}), None)


@pytest.fixture(autouse=True)
def small_tiers(monkeypatch):
    for name in ("FRAME_TIERS", "VOCODER_TIERS", "TOKEN_TIERS"):
        monkeypatch.setattr(batch_solver, name, (64, 144))
    monkeypatch.setattr(batch_solver, "ROW_TIERS", (1, 4))
    monkeypatch.setattr(batch_solver, "_FEW_ROWS", (1, 4))
    monkeypatch.setattr(batch_solver, "BINS", zipvoice(DISTILLED).config.bins)


def chunk(variant, tokens, prompt_frames, speed, guidance, shift, steps=3):
    prompt = torch.randn(prompt_frames, zipvoice(variant).config.features, generator=seeded(tokens))
    given = ZipVoiceInput(range(1, tokens + 1), [3, 4, 5], prompt, speed)
    return given, ChunkRow.of(given, seed=tokens, solver=SolverOptions(steps, guidance, shift))


@torch.inference_mode()
def step_by_step(variant, given, row):
    """What the solver of single steps and the vocoder make of a chunk alone."""
    model, channels = zipvoice(variant), zipvoice(variant).config.channels
    (state,) = model.start([given], [torch.from_numpy(row.noise)], [row.solver])
    while not state.done:
        (state,) = model.step([state])
    mels = torch.split(state.generated / FEATURE_SCALE, model.config.bins, dim=1)
    samples = [networks(variant).vocos([mel])[0] for mel in mels]
    return samples[0] if channels == 1 else torch.stack(samples, dim=1)


def solved(solver, chunks):
    batch = solver.launch([row for _, row in chunks])
    batch.wait_nearly_done()
    return [batch.samples(index) for index in range(len(chunks))]


def assert_same(variant, chunks, found):
    for (given, row), ours in zip(chunks, found, strict=True):
        expected = step_by_step(variant, given, row)
        assert ours.shape == tuple(expected.shape)
        assert difference(torch.from_numpy(ours), expected) <= ROUNDING


@VARIANTS
def test_a_chunk_in_a_batch_is_what_it_is_alone(variant):
    chunks = [chunk(variant, *plan) for plan in PLANS]
    assert_same(variant, chunks, solved(BatchSolver(networks(variant), CPU), chunks))


@VARIANTS
def test_replayed_shapes_leak_neither_padding_nor_what_was_there_before(variant):
    replay = Poisoned()
    solver = BatchSolver(networks(variant), CPU, replay)
    shapes = list(solver.shapes(144))
    for shape in shapes:
        solver.capture(shape)
    assert set(replay.recorded) == set(shapes)
    chunks = [chunk(variant, *plan) for plan in PLANS]
    for batch in (chunks[:1], chunks, chunks[1:3], chunks[3:]):
        replay.poison()
        replay.calls.clear()
        assert_same(variant, batch, solved(solver, batch))
        parts = [shape.part for shape in replay.calls]
        assert parts == ["encode", "step", "step", "step", "vocode"], "nothing ran eagerly"
    assert len(replay.recorded) == len(shapes), "nothing was captured while requests waited"


def test_a_batch_may_be_launched_before_the_one_before_it_is_read():
    solver = BatchSolver(networks(DISTILLED), CPU, Poisoned())
    for shape in solver.shapes(144):
        solver.capture(shape)
    chunks = [chunk(DISTILLED, *plan) for plan in PLANS]
    first, second = (solver.launch([row for _, row in some]) for some in (chunks[:2], chunks[2:]))
    found = [batch.samples(row) for batch in (first, second) for row in range(2)]
    assert_same(DISTILLED, chunks, found)


def test_what_no_shape_fits_runs_eagerly_beside_what_is_captured():
    replay = Poisoned()
    solver = BatchSolver(networks(DISTILLED), CPU, replay)
    for shape in solver.shapes(64):
        solver.capture(shape)
    replay.calls.clear()
    long = [chunk(DISTILLED, 30, 20, 1.0, 1.0, 0.5)]
    assert_same(DISTILLED, long, solved(solver, long[:1]))
    assert {shape.part for shape in replay.calls} == {"encode"}
    solver.discard()
    replay.calls.clear()
    short = [chunk(DISTILLED, *PLANS[0])]
    assert_same(DISTILLED, short, solved(solver, short[:1]))
    assert replay.calls == []


def test_batches_are_of_one_number_of_steps_and_of_similar_length():
    solver = BatchSolver(networks(DISTILLED), CPU)
    row = chunk(DISTILLED, *PLANS[0])[1]
    assert solver.group(row) == (3, 512)
    assert solver.room(4, 768) == 16
    assert solver.room(8, 768) == 8
    assert solver.room(32, 768) == 5
    assert solver.room(4, 8192) == 1
    guided = BatchSolver(networks(BASE), CPU)
    assert guided.room(4, 768) == 8


def test_shapes_of_single_chunks_are_captured_first():
    shapes = list(BatchSolver(networks(DISTILLED), CPU).shapes(64))
    assert shapes[0] == BatchShape("encode", 1, 64)
    steps = [(shape.rows, shape.length) for shape in shapes if shape.part == "step"]
    assert steps == [(1, 64), (4, 64)]


@pytest.mark.parametrize(("dtype", "most"), [(torch.float16, 0.02), (torch.bfloat16, 0.15)])
def test_less_precision_stays_near_single(dtype, most):
    given, row = chunk(DISTILLED, *PLANS[0])
    model = zipvoice(DISTILLED)
    rounded = copy.deepcopy(model).to(dtype)

    @torch.inference_mode()
    def mel(network):
        (state,) = network.start([given], [torch.from_numpy(row.noise)], [row.solver])
        while not state.done:
            (state,) = network.step([state])
        return state.generated

    exact, ours = mel(model), mel(rounded)
    assert 0 < ((ours - exact).square().mean().sqrt() / exact.std()).item() < most
