"""Execution of the networks: as CUDA graphs or compiled where the machine can, else eager, with a warning.

Both functions must be called on the thread that will use what they return.
"""

from collections.abc import Callable

from polyvox.engines.kit.recording import captured_or_eager, captured_with
from polyvox.engines.speechlm.codec_decoder import CodecDecoder, CodecShapes
from polyvox.engines.speechlm.loading import SpeechLmNetworks
from polyvox.engines.speechlm.settings import SpeechLmSettings
from polyvox.engines.speechlm.tuning import TOKENS_PER_SECOND
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.lm_scheduler import LmScheduler
from polyvox.runtime.tokens import SamplingParams

Recorder = Callable[[], Replay]


def capture_scheduler(
    make: Callable[[Replay | None], LmScheduler], recorder: Recorder | None
) -> tuple[LmScheduler, str]:
    """The scheduler with all its usual steps captured, and a warning or ""."""
    return captured_with(
        recorder, "The codec language model", make, lambda scheduler: scheduler.capture(SamplingParams())
    )


def capture_decoder(
    networks: SpeechLmNetworks, settings: SpeechLmSettings, recorder: Recorder | None
) -> tuple[CodecDecoder, str]:
    """The codec's decoder, compiled or captured as the settings say, and a warning or ""."""
    codec, device = networks.codec, networks.device
    if recorder is None and not settings.compile:
        return CodecDecoder(codec, device), ""

    def captured() -> CodecDecoder:
        if settings.compile or recorder is None:
            decoder = CodecDecoder(codec, device, compiled=True)
        else:
            lengths = sorted({max(1, int(seconds * TOKENS_PER_SECOND)) for seconds in settings.graph_seconds})
            decoder = CodecDecoder(codec, device, CodecShapes(recorder(), tuple(lengths), settings.codec_batch))
        decoder.warm()
        return decoder

    return captured_or_eager("NeuCodec's decoder", captured, lambda: CodecDecoder(codec, device))
