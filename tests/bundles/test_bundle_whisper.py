"""CTranslate2's files, and Whisper's graphs of small random weights against the same arithmetic in PyTorch."""

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor
from torch.nn import functional as fn

from polyvox.bundles.ctranslate2_file import read_ctranslate2
from polyvox.bundles.onnx_graphs.whisper import FRAMES, WhisperShape, whisper_decoder_graph, whisper_encoder_graph
from polyvox.errors import BundleError
from polyvox.onnx_session import open_session

Weights = dict[str, npt.NDArray[np.float16]]
SHAPE = WhisperShape(layers=2, width=128, bins=8, vocabulary=192)
HEADS = [(0, 1), (1, 0)]
TYPES = {"float32": 0, "int8": 1, "int16": 2, "float16": 4}


def written(tensors: dict[str, npt.NDArray], specification: str = "WhisperSpec") -> bytes:
    """A file of CTranslate2's."""
    name = lambda text: struct.pack("<H", len(text) + 1) + text.encode() + b"\0"  # noqa: E731
    parts = [struct.pack("<I", 6), name(specification), struct.pack("<II", 3, len(tensors))]
    for key, values in tensors.items():
        parts += [name(key), struct.pack(f"<B{values.ndim}I", values.ndim, *values.shape)]
        parts += [struct.pack("<BI", TYPES[values.dtype.name], values.nbytes), values.tobytes()]
    return b"".join([*parts, struct.pack("<I", 0)])


def test_tensors_are_read_from_a_file_in_parts(tmp_path):
    tensors = {"a/b": np.arange(6, dtype=np.float16).reshape(2, 3), "flag": np.int8([1])[0:1], "c": np.float32([0.5])}
    data = written(tensors)
    parts = [tmp_path / "one", tmp_path / "two"]
    for path, content in zip(parts, (data[:30], data[30:]), strict=True):
        path.write_bytes(content)
    found = read_ctranslate2(parts, "WhisperSpec")
    assert found.keys() == tensors.keys()
    for name, values in tensors.items():
        np.testing.assert_array_equal(found[name], values)
        assert found[name].dtype == values.dtype


def test_a_file_that_is_broken_or_of_another_kind_is_refused(tmp_path):
    data = written({"a": np.zeros((2, 3), np.float16)})
    place = data.index(struct.pack("<II", 2, 3))
    hostile = [
        b"",
        data[:40],
        data[: place + 10],
        struct.pack("<I", 99) + data[4:],
        written({}, "TransformerSpec"),
        data[:place] + struct.pack("<II", 2**31, 2**31) + data[place + 8 :],
        data[: place - 1] + b"\xff" + data[place:],
    ]
    path = tmp_path / "model.bin"
    for content in hostile:
        path.write_bytes(content)
        with pytest.raises(BundleError, match=r"model\.bin cannot be read"):
            read_ctranslate2([path], "WhisperSpec")
    with pytest.raises(BundleError, match="cannot be read"):
        read_ctranslate2([Path("nowhere")], "WhisperSpec")


def random_weights() -> Weights:
    rng, width = np.random.default_rng(3), SHAPE.width
    found: Weights = {}

    def add(name: str, *shape: int, scale: float = 0.1, offset: float = 0.0) -> None:
        found[name] = (offset + scale * rng.standard_normal(shape)).astype(np.float16)

    def norm(name: str) -> None:
        add(f"{name}/gamma", width, offset=1.0)
        add(f"{name}/beta", width)

    def linear(name: str, outs: int, ins: int = width) -> None:
        add(f"{name}/weight", outs, ins)
        add(f"{name}/bias", outs)

    for index, ins in ((1, SHAPE.bins), (2, width)):
        add(f"encoder/conv{index}/weight", width, ins, 3)
        add(f"encoder/conv{index}/bias", width)
    add("encoder/position_encodings/encodings", FRAMES, width)
    add("decoder/position_encodings/encodings", 16, width)
    add("decoder/embeddings/weight", SHAPE.vocabulary, width)
    for side in ("encoder", "decoder"):
        norm(f"{side}/layer_norm")
        for layer in range(SHAPE.layers):
            name = f"{side}/layer_{layer}"
            norm(f"{name}/self_attention/layer_norm")
            linear(f"{name}/self_attention/linear_0", 3 * width)
            linear(f"{name}/self_attention/linear_1", width)
            norm(f"{name}/ffn/layer_norm")
            linear(f"{name}/ffn/linear_0", 4 * width)
            linear(f"{name}/ffn/linear_1", width, 4 * width)
            if side == "decoder":
                norm(f"{name}/attention/layer_norm")
                linear(f"{name}/attention/linear_0", width)
                linear(f"{name}/attention/linear_1", 2 * width)
                linear(f"{name}/attention/linear_2", width)
    return found


class Reference:
    """The same network in PyTorch, in full precision."""

    def __init__(self, weights: Weights) -> None:
        self.w = {name: torch.from_numpy(values.astype(np.float32)) for name, values in weights.items()}

    def norm(self, x: Tensor, name: str) -> Tensor:
        return fn.layer_norm(x, x.shape[-1:], self.w[f"{name}/gamma"], self.w[f"{name}/beta"])

    def linear(self, x: Tensor, name: str) -> Tensor:
        return fn.linear(x, self.w[f"{name}/weight"], self.w[f"{name}/bias"])

    def ffn(self, x: Tensor, name: str) -> Tensor:
        inner = fn.gelu(self.linear(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0"))
        return self.linear(inner, f"{name}/linear_1")

    def attended(self, query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False) -> tuple[Tensor, Tensor]:
        q, k, v = (x.unflatten(1, (SHAPE.heads, 64)).transpose(0, 1) for x in (query, key, value))
        scores = q @ k.transpose(1, 2) / 8
        if causal:
            scores += torch.full(scores.shape[1:], -torch.inf).triu(1)
        shares = scores.softmax(-1)
        return (shares @ v).transpose(0, 1).flatten(1), shares

    def own(self, x: Tensor, name: str, *, causal: bool) -> Tensor:
        qkv = self.linear(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0").chunk(3, -1)
        return self.linear(self.attended(*qkv, causal=causal)[0], f"{name}/linear_1")

    def encoded(self, mel: Tensor) -> Tensor:
        x = fn.gelu(fn.conv1d(mel, self.w["encoder/conv1/weight"], self.w["encoder/conv1/bias"], padding=1))
        x = fn.gelu(fn.conv1d(x, self.w["encoder/conv2/weight"], self.w["encoder/conv2/bias"], padding=1, stride=2))
        x = x[0].T + self.w["encoder/position_encodings/encodings"]
        for layer in range(SHAPE.layers):
            x = x + self.own(x, f"encoder/layer_{layer}/self_attention", causal=False)
            x = x + self.ffn(x, f"encoder/layer_{layer}/ffn")
        return self.norm(x, "encoder/layer_norm")

    def decoded(self, heard: Tensor, tokens: list[int]) -> tuple[Tensor, Tensor]:
        """The logits behind the last token, and the attention of the heads."""
        x = self.w["decoder/embeddings/weight"][tokens] + self.w["decoder/position_encodings/encodings"][: len(tokens)]
        shares = {}
        for layer in range(SHAPE.layers):
            name = f"decoder/layer_{layer}"
            x = x + self.own(x, f"{name}/self_attention", causal=True)
            query = self.linear(self.norm(x, f"{name}/attention/layer_norm"), f"{name}/attention/linear_0")
            key, value = self.linear(heard, f"{name}/attention/linear_1").chunk(2, -1)
            found, shares[layer] = self.attended(query, key, value)
            x = x + self.linear(found, f"{name}/attention/linear_2")
            x = x + self.ffn(x, f"{name}/ffn")
        logits = self.norm(x[-1], "decoder/layer_norm") @ self.w["decoder/embeddings/weight"].T
        return logits, torch.stack([shares[layer][head] for layer, head in HEADS])


def near(found: npt.NDArray, expected: Tensor, share: float) -> bool:
    """Whether the error is a small share of what the numbers vary by: weights and activations have 8 bits."""
    return float(np.abs(found - expected.numpy()).mean()) < share * float(expected.std())


def test_the_graphs_compute_what_the_network_does_and_a_cache_changes_nothing():
    weights = random_weights()
    encoder = open_session(whisper_encoder_graph(weights))
    decoder = open_session(whisper_decoder_graph(weights, HEADS))
    mel = np.random.default_rng(1).standard_normal((1, SHAPE.bins, 2 * FRAMES)).astype(np.float32)
    names = [output.name for output in encoder.get_outputs()]
    cross = dict(zip(names, encoder.run(None, {"mel": mel}), strict=True))

    def decoded(runs: list[list[int]]) -> dict[str, npt.NDArray]:
        past = {f"{kind}_{n}": np.zeros((2, 0, 64), np.float32) for n in range(2) for kind in ("key", "value")}
        at, found = 0, {}
        for tokens in runs:
            mask = np.triu(np.full((len(tokens), at + len(tokens)), -np.inf, np.float32), k=at + 1)
            feed = {"tokens": np.array([tokens]), "positions": np.arange(at, at + len(tokens)), "mask": mask}
            outputs = [output.name for output in decoder.get_outputs()]
            found = dict(zip(outputs, decoder.run(None, {**feed, **cross, **past}), strict=True))
            past, at = {name: found[f"new_{name}"] for name in past}, at + len(tokens)
        return found

    reference = Reference(weights)
    heard = reference.encoded(torch.from_numpy(mel))
    key, value = reference.linear(heard, "decoder/layer_1/attention/linear_1").chunk(2, -1)
    assert near(cross["cross_key_1"], key.T.reshape(SHAPE.heads, 64, FRAMES), 0.03)
    assert near(cross["cross_value_1"], value.unflatten(1, (SHAPE.heads, 64)).transpose(0, 1), 0.03)
    tokens = [5, 90, 17, 3, 150]
    logits, attention = reference.decoded(heard, tokens)
    whole = decoded([tokens])
    assert near(whole["logits"][0], logits, 0.03)
    assert near(whole["attention"], attention, 0.03)
    np.testing.assert_allclose(
        decoded([tokens[:2], *([each] for each in tokens[2:])])["logits"], whole["logits"], atol=1e-3
    )
