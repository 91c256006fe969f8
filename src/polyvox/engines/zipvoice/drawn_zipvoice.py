"""ZipVoice's two graphs, drawn from the network, with the inputs and outputs of the published ones."""

from types import MappingProxyType

import numpy as np
import onnx

from polyvox.engines.zipvoice.drawing import FLOAT, INT64, Drawing
from polyvox.engines.zipvoice.drawn_zipformer import Closing, drawn_linear, drawn_swoosh_r, drawn_zipformer
from polyvox.engines.zipvoice.mel import FFT, HOP, SAMPLE_RATE
from polyvox.models.zipvoice.model import GUIDANCE_CODE, PAD, TURNING_POINT, Clock, ZipVoice, wave_rates

_TEXT_INPUTS = MappingProxyType(
    {
        "tokens": (INT64, ("N", "T")),
        "prompt_tokens": (INT64, ("N", "U")),
        "prompt_features_len": (INT64, ()),
        "speed": (FLOAT, ()),
    }
)


def text_graph(network: ZipVoice) -> onnx.ModelProto:
    """Tokens of the prompt and of what is to be spoken: what each frame is to say, [N, frames, bins]."""
    draw = Drawing()
    joined = draw.op("Concat", "prompt_tokens", "tokens", axis=1)
    count = draw.size(joined, 1)
    with_pad = draw.op("Pad", joined, draw.whole(0, 0, 0, 1), draw.op("Squeeze", draw.whole(PAD), draw.whole(0)))
    embedded = draw.op("Gather", draw.weight(network.embed.weight.detach().float().numpy()), with_pad)
    rows = drawn_zipformer(draw, network.text_encoder, embedded, closing=_closing(draw, count))
    said = draw.op("Gather", rows, _places(draw, count), axis=1)
    return draw.model(
        _TEXT_INPUTS,
        {"text_condition": (said, ("N", "F", network.config.bins))},
        {"version": "1", "comment": "ZipVoice text encoder", "use_espeak": "1", "use_pinyin": "1"},
    )


def _closing(draw: Drawing, count: str) -> Closing:
    """The pad behind the tokens hears them but is not heard."""
    number = np.zeros(1, np.float32)
    zeros, ones = (
        draw.op("ConstantOfShape", count, value=onnx.numpy_helper.from_array(number + value)) for value in (0, 1)
    )
    scores = draw.op("Concat", zeros, draw.weight(number - np.inf), axis=0)
    counts = draw.op("Concat", ones, draw.weight(number), axis=0)
    return Closing(scores, draw.op("Unsqueeze", counts, draw.whole(1)))


def _places(draw: Drawing, count: str) -> str:
    """Which token each frame says, [frames]: at an even pace, and the pad for what is left over.

    The number of frames goes by the published graphs' rule, in which the speed shortens the prompt's part as well.
    Where there are fewer frames than tokens, some tokens are passed over, as in the network.
    """
    prompt_count, length = (
        draw.op("Cast", value, to=FLOAT) for value in (draw.size("prompt_tokens", 1), "prompt_features_len")
    )
    pace = draw.op("Div", length, prompt_count)
    exact = draw.op("Div", draw.op("Mul", pace, draw.op("Cast", count, to=FLOAT)), "speed")
    frames = draw.op("Cast", draw.op("Ceil", exact), to=INT64)
    axis, one = draw.whole(0), draw.whole(1)
    zero, end, stride = (draw.op("Squeeze", value, axis) for value in (axis, frames, one))
    every = draw.op("Range", zero, end, stride)
    each = draw.op("Max", draw.op("Div", frames, count), one)
    even = draw.op("Min", draw.op("Div", every, each), count)
    passing = draw.op("Div", draw.op("Mul", every, count), draw.op("Max", frames, one))
    return draw.op("Where", draw.op("Less", frames, count), passing, even)


def decoder_graph(network: ZipVoice) -> onnx.ModelProto:
    """Time, mel, what is to be said, the prompt and the guidance: the guided velocity, [N, T, features]."""
    draw, config = Drawing(), network.config
    time = _time(draw, network.clock)
    if config.distilled:
        rows = draw.op("Concat", "x", "text_condition", "speech_condition", axis=2)
        velocity = drawn_zipformer(draw, network.decoder, rows, time)
    else:
        velocity = _guided(draw, network, time)
    shape = ("N", "T", config.bins)
    return draw.model(
        {
            "t": (FLOAT, ()),
            "x": (FLOAT, shape),
            "text_condition": (FLOAT, shape),
            "speech_condition": (FLOAT, shape),
            "guidance_scale": (FLOAT, ()),
        },
        {"v": (velocity, shape)},
        {
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


def _time(draw: Drawing, clock: Clock) -> str:
    """Time, and in the distilled model guidance as well, as a vector [1, width]."""
    code = _wave_code(draw, "t", clock.width)
    if clock.guidance is not None:
        code = draw.op(
            "Add", code, drawn_linear(draw, clock.guidance, _wave_code(draw, "guidance_scale", GUIDANCE_CODE))
        )
    return drawn_linear(draw, clock.linear_2, drawn_swoosh_r(draw, drawn_linear(draw, clock.linear_1, code)))


def _wave_code(draw: Drawing, value: str, width: int) -> str:
    angles = draw.op("Mul", value, draw.weight(wave_rates(width).numpy()[None]))
    return draw.op("Concat", draw.op("Cos", angles), draw.op("Sin", angles), axis=1)


def _guided(draw: Drawing, network: ZipVoice, time: str) -> str:
    """Every row twice: without its text (and, past the turning point, without the prompt), and with both."""
    early = draw.op("Cast", draw.op("LessOrEqual", "t", draw.scalar(TURNING_POINT)), to=FLOAT)
    silence = draw.op("Mul", "text_condition", draw.scalar(0.0))
    unguided = draw.op("Concat", "x", silence, draw.op("Mul", "speech_condition", early), axis=2)
    guided = draw.op("Concat", "x", "text_condition", "speech_condition", axis=2)
    both = drawn_zipformer(draw, network.decoder, draw.op("Concat", unguided, guided, axis=0), time)
    batch = draw.size("x", 0)
    without, with_text = draw.ops("Split", both, draw.op("Concat", batch, batch, axis=0), count=2, axis=0)
    scale = draw.op("Mul", "guidance_scale", draw.op("Add", early, draw.scalar(1.0)))
    push = draw.op("Mul", scale, draw.op("Sub", with_text, without))
    return draw.op("Add", with_text, push)
