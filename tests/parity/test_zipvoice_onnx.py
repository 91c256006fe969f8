"""ONNX graphs in place of the network: called by the published interface, at every speed, one row at a time.

The graphs here have that interface and its rule of lengths, and so little arithmetic that it can be checked by hand.
"""

from pathlib import Path

import onnx.parser
import pytest
import torch

from helpers.zipvoice_golden import difference, seeded
from polyvox.engines.zipvoice.onnx_networks import OnnxZipVoice
from polyvox.errors import BundleError
from polyvox.models.zipvoice.flow import SolverOptions, SolverState, ZipVoiceInput, token_indices
from polyvox.models.zipvoice.model import PAD

BINS, VOCABULARY = 4, 12
HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
# Frames are ceil(P / prompt tokens * all tokens / speed): the speed shrinks the prompt's part as well.
TEXT = f"""{HEADER}text (int64[N, T] tokens, int64[N, U] prompt_tokens, int64 prompt_features_len, float speed)
=> (float[N, F, {BINS}] text_condition)
<float[{VOCABULARY}, {BINS}] table, int64[1, 1] pad = {{0}}, int64 zero = {{0}}, int64 one = {{1}}>
{{
  joined = Concat <axis = 1> (prompt_tokens, tokens, pad)
  row = Squeeze (joined)
  with_pad = Size (row)
  count = Sub (with_pad, one)
  prompt_count = Size (prompt_tokens)
  P = Cast <to = 1> (prompt_features_len)
  U = Cast <to = 1> (prompt_count)
  N = Cast <to = 1> (count)
  pace = Div (P, U)
  long = Mul (pace, N)
  at_speed = Div (long, speed)
  whole = Ceil (at_speed)
  frames = Cast <to = 7> (whole)
  places = Range (zero, frames, one)
  each = Div (frames, count)
  index = Div (places, each)
  bounded = Min (index, count)
  said = Gather (row, bounded)
  condition = Gather (table, said)
  axis = Constant <value_ints = [0]> ()
  text_condition = Unsqueeze (condition, axis)
}}"""
DECODER = f"""{HEADER}decoder (float t, float[N, F, {BINS}] x, float[N, F, {BINS}] text_condition,
  float[N, F, {BINS}] speech_condition, float guidance_scale) => (float[N, F, {BINS}] v)
{{
  a = Mul (guidance_scale, x)
  b = Mul (t, text_condition)
  c = Add (a, b)
  v = Add (c, speech_condition)
}}"""


def table() -> torch.Tensor:
    return torch.randn(VOCABULARY, BINS, generator=seeded(3))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = onnx.parser.parse_model(TEXT)
    for held in text.graph.initializer:
        if held.name == "table":
            text.graph.initializer.remove(held)
    text.graph.initializer.append(onnx.numpy_helper.from_array(table().numpy(), "table"))
    (tmp_path / "text_encoder.onnx").write_bytes(text.SerializeToString())
    (tmp_path / "fm_decoder.onnx").write_bytes(onnx.parser.parse_model(DECODER).SerializeToString())
    return tmp_path


def solve_by_hand(row: ZipVoiceInput, noise: torch.Tensor, solver: SolverOptions) -> torch.Tensor:
    """The result of the graphs' arithmetic, step by step."""
    tokens = torch.tensor([*row.prompt_tokens, *row.tokens, PAD])
    text = table()[tokens[token_indices(len(tokens) - 1, row.frames)]]
    speech = torch.zeros(row.frames, BINS)
    speech[: len(row.prompt)] = row.prompt
    mel, time = noise, 0.0
    for index in range(solver.steps):
        upto = (index + 1) / solver.steps
        after = solver.shift * upto / (1 + (solver.shift - 1) * upto)
        mel = mel + (after - time) * (solver.guidance * mel + time * text + speech)
        time = after
    return mel


@pytest.mark.parametrize("speed", [0.5, 0.77, 1.0, 1.3, 2.0])
@pytest.mark.parametrize(("tokens", "prompt_tokens", "frames"), [(7, 3, 20), (1, 5, 31), (11, 6, 23)])
def test_graphs_are_called_so_that_their_lengths_are_the_networks(
    folder: Path, speed: float, tokens: int, prompt_tokens: int, frames: int
) -> None:
    graphs = OnnxZipVoice(folder, int8=False, threads=1)
    prompt = torch.randn(frames, BINS, generator=seeded(1))
    row = ZipVoiceInput(range(1, 1 + tokens), range(2, 2 + prompt_tokens), prompt, speed)
    noise = torch.randn(row.frames, BINS, generator=seeded(2))
    solvers = [SolverOptions(4, 3.0), SolverOptions(2, 1.0, shift=1.0)]
    flows: list[SolverState] = graphs.start([row, row], [noise, noise], solvers)
    for flow, solver in zip(flows, solvers, strict=True):
        while not flow.done:
            (flow,) = graphs.step([flow])
        assert difference(flow.generated, solve_by_hand(row, noise, solver)[frames:]) <= 1e-3


def test_a_graph_of_something_else_is_refused(folder: Path) -> None:
    (folder / "fm_decoder.onnx").replace(folder / "text_encoder.onnx")
    with pytest.raises(BundleError, match="fetch the model again"):
        OnnxZipVoice(folder, int8=False, threads=1)


def test_a_broken_graph_is_refused(folder: Path) -> None:
    (folder / "text_encoder_int8.onnx").write_bytes(b"no graph")
    with pytest.raises(BundleError, match="cannot be opened as a graph"):
        OnnxZipVoice(folder, int8=True, threads=1)
