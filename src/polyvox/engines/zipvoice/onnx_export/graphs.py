"""ZipVoice's two ONNX graphs, built from the network, with the inputs and outputs of the published ones."""

from types import MappingProxyType

import numpy as np
import onnx

from polyvox.bundles.onnx_graphs.builder import FLOAT, INT64, GraphBuilder
from polyvox.engines.kit.onnx_export import build_linear
from polyvox.engines.zipvoice.mel import FFT, HOP, SAMPLE_RATE
from polyvox.engines.zipvoice.onnx_export.zipformer import LastFrameMask, build_swoosh_r, build_zipformer
from polyvox.models.zipvoice.model import (
    GUIDANCE_EMBEDDING,
    GUIDANCE_SWITCH_TIME,
    PAD,
    TimeEmbedding,
    ZipVoice,
    sinusoidal_frequencies,
)

_NAME = "zipvoice"
_TEXT_INPUTS = MappingProxyType(
    {
        "tokens": (INT64, ("N", "T")),
        "prompt_tokens": (INT64, ("N", "U")),
        "prompt_features_len": (INT64, ()),
        "speed": (FLOAT, ()),
    }
)


def text_graph(network: ZipVoice) -> onnx.ModelProto:
    """Tokens of the prompt and of the text to the text condition, [N, frames, bins]."""
    graph = GraphBuilder()
    joined = graph.op("Concat", "prompt_tokens", "tokens", axis=1)
    count = graph.size(joined, 1)
    pad = graph.op("Squeeze", graph.integers(PAD), graph.integers(0))
    with_pad = graph.op("Pad", joined, graph.integers(0, 0, 0, 1), pad)
    embedded = graph.op("Gather", graph.constant(network.embed.weight.detach().float().numpy()), with_pad)
    rows = build_zipformer(graph, network.text_encoder, embedded, mask=_pad_mask(graph, count))
    condition = graph.op("Gather", rows, _token_indices(graph, count), axis=1)
    return graph.model(
        _TEXT_INPUTS,
        {"text_condition": (condition, ("N", "F", network.config.bins))},
        name=_NAME,
        metadata={"version": "1", "comment": "ZipVoice text encoder", "use_espeak": "1", "use_pinyin": "1"},
    )


def _pad_mask(graph: GraphBuilder, count: str) -> LastFrameMask:
    """The pad behind the tokens attends to them, but they do not attend to it."""
    zero = np.zeros(1, np.float32)
    zeros, ones = (
        graph.op("ConstantOfShape", count, value=onnx.numpy_helper.from_array(zero + value)) for value in (0, 1)
    )
    scores = graph.op("Concat", zeros, graph.constant(zero - np.inf), axis=0)
    frames = graph.op("Concat", ones, graph.constant(zero), axis=0)
    return LastFrameMask(scores, graph.op("Unsqueeze", frames, graph.integers(1)))


def _token_indices(graph: GraphBuilder, count: str) -> str:
    """The token that each frame speaks, [frames]: at an even pace, and the pad for the frames left over.

    The number of frames follows the published graphs' rule, in which the speed shortens the prompt's part as well.
    Where there are fewer frames than tokens, some tokens are skipped, as in the network.
    """
    prompt_count, length = (
        graph.op("Cast", value, to=FLOAT) for value in (graph.size("prompt_tokens", 1), "prompt_features_len")
    )
    pace = graph.op("Div", length, prompt_count)
    exact = graph.op("Div", graph.op("Mul", pace, graph.op("Cast", count, to=FLOAT)), "speed")
    frames = graph.op("Cast", graph.op("Ceil", exact), to=INT64)
    axis, one = graph.integers(0), graph.integers(1)
    zero, end, stride = (graph.op("Squeeze", value, axis) for value in (axis, frames, one))
    every = graph.op("Range", zero, end, stride)
    frames_per_token = graph.op("Max", graph.op("Div", frames, count), one)
    even = graph.op("Min", graph.op("Div", every, frames_per_token), count)
    skipping = graph.op("Div", graph.op("Mul", every, count), graph.op("Max", frames, one))
    return graph.op("Where", graph.op("Less", frames, count), skipping, even)


def decoder_graph(network: ZipVoice) -> onnx.ModelProto:
    """Time, mel, text condition, speech condition and guidance to the guided velocity, [N, T, features]."""
    graph, config = GraphBuilder(), network.config
    time = _time_embedding(graph, network.time_embedding)
    if config.distilled:
        rows = graph.op("Concat", "x", "text_condition", "speech_condition", axis=2)
        velocity = build_zipformer(graph, network.decoder, rows, time)
    else:
        velocity = _guided_velocity(graph, network, time)
    shape = ("N", "T", config.bins)
    return graph.model(
        {
            "t": (FLOAT, ()),
            "x": (FLOAT, shape),
            "text_condition": (FLOAT, shape),
            "speech_condition": (FLOAT, shape),
            "guidance_scale": (FLOAT, ()),
        },
        {"v": (velocity, shape)},
        name=_NAME,
        metadata={
            "version": "1",
            "comment": "ZipVoice flow-matching decoder",
            "feat_dim": str(config.bins),
            "sample_rate": str(SAMPLE_RATE),
            "n_fft": str(FFT),
            "hop_length": str(HOP),
            "window_length": str(FFT),
            "num_mels": str(config.bins),
        },
    )


def _time_embedding(graph: GraphBuilder, module: TimeEmbedding) -> str:
    """The embedding of time, and in the distilled model of guidance as well, [1, width]."""
    embedded = _sinusoidal_embedding(graph, "t", module.width)
    if module.guidance is not None:
        guidance = _sinusoidal_embedding(graph, "guidance_scale", GUIDANCE_EMBEDDING)
        embedded = graph.op("Add", embedded, build_linear(graph, module.guidance, guidance))
    hidden = build_swoosh_r(graph, build_linear(graph, module.linear_1, embedded))
    return build_linear(graph, module.linear_2, hidden)


def _sinusoidal_embedding(graph: GraphBuilder, value: str, width: int) -> str:
    angles = graph.op("Mul", value, graph.constant(sinusoidal_frequencies(width).numpy()[None]))
    return graph.op("Concat", graph.op("Cos", angles), graph.op("Sin", angles), axis=1)


def _guided_velocity(graph: GraphBuilder, network: ZipVoice, time: str) -> str:
    """Classifier-free guidance, each row twice: without its text (and late, without the prompt), and with both."""
    early = graph.op("Cast", graph.op("LessOrEqual", "t", graph.scalar(GUIDANCE_SWITCH_TIME)), to=FLOAT)
    no_text = graph.op("Mul", "text_condition", graph.scalar(0.0))
    unconditional = graph.op("Concat", "x", no_text, graph.op("Mul", "speech_condition", early), axis=2)
    conditional = graph.op("Concat", "x", "text_condition", "speech_condition", axis=2)
    both = build_zipformer(graph, network.decoder, graph.op("Concat", unconditional, conditional, axis=0), time)
    batch = graph.size("x", 0)
    without, with_text = graph.ops("Split", both, graph.op("Concat", batch, batch, axis=0), count=2, axis=0)
    scale = graph.op("Mul", "guidance_scale", graph.op("Add", early, graph.scalar(1.0)))
    return graph.op("Add", with_text, graph.op("Mul", scale, graph.op("Sub", with_text, without)))
