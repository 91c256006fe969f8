"""How the networks are run: recorded or compiled where the machine can, else as they are, with a warning."""

from collections.abc import Callable

import structlog

from polyvox.engines.cosyvoice.decoder import CosyVoiceDecoder
from polyvox.engines.cosyvoice.hops import UsualHops
from polyvox.engines.cosyvoice.sound import Sound
from polyvox.models.cosyvoice.flow import Flow
from polyvox.models.cosyvoice.fusing import fuse
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.tokens import SamplingParams

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


async def shared_lm(
    decoder: CosyVoiceDecoder,
    sizes: LmSchedulerConfig,
    sampling: SamplingParams,
    executor: DeviceExecutor,
    recorder: Callable[[], Replay] | None,
) -> tuple[LmScheduler, str]:
    """The language model for all sessions, and a warning or nothing.

    Where there is a `recorder`, all shapes of its steps are recorded before anybody waits for one; should that fail,
    each step is launched anew.
    """

    def made(replay: Replay | None) -> LmScheduler:
        return LmScheduler(decoder, sizes, executor=executor, replay=replay)

    if recorder is None:
        return await executor.run(lambda: made(None)), ""
    try:
        source = await executor.run(lambda: made(recorder()))
        await source.warm(sampling)
    except RuntimeError as error:
        warning = f"The language model's steps could not be recorded ({first_line(error)}), so it decodes more slowly."
        log.warning(warning)
        return await executor.run(lambda: made(None)), warning
    return source, ""


def recorded_sound(sound: Sound, hops: UsualHops, recorder: Callable[[], Replay]) -> str:
    """Record what makes sound of chunks of the usual lengths; should that fail, leave it as it is, and say so."""
    try:
        sound.record(recorder(), hops)
    except RuntimeError as error:
        warning = (
            f"Flow and vocoder could not be recorded ({first_line(error)}), so each of their steps is launched anew."
        )
        log.warning(warning)
        return warning
    return ""


def fused_flow(flow: Flow, try_out: Callable[[], None]) -> str:
    """Compile what can be compiled of the flow, by trying it out; should that fail, leave it as it is, and say so."""
    fuse(flow.estimator, compiled=True)
    try:
        try_out()
    except RuntimeError as error:
        fuse(flow.estimator, compiled=False)
        warning = f"The flow could not be compiled ({first_line(error)}), so it runs as it is."
        log.warning(warning)
        return warning
    return ""


def first_line(error: Exception) -> str:
    """What an error says, in a few words."""
    return (str(error).splitlines() or [type(error).__name__])[0]
