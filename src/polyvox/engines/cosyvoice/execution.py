"""Accelerated execution of the networks: CUDA graphs and `torch.compile`, or eager with a warning where those fail."""

from collections.abc import Callable

from polyvox.engines.cosyvoice.lm_adapter import LmAdapter
from polyvox.engines.kit.recording import captured_or_eager, captured_or_eager_async
from polyvox.models.cosyvoice.compiled import set_compiled
from polyvox.models.cosyvoice.flow import FlowNetwork
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.tokens import SamplingParams


async def start_lm(
    adapter: LmAdapter,
    sizes: LmSchedulerConfig,
    sampling: SamplingParams,
    executor: DeviceExecutor,
    recorder: Callable[[], Replay] | None,
) -> tuple[LmScheduler, str]:
    """The language model's scheduler, and a warning or nothing.

    With a `recorder`, the graphs of all its steps are captured before the first request.
    """

    async def eager() -> LmScheduler:
        return await executor.run(lambda: LmScheduler(adapter, sizes, executor=executor))

    if recorder is None:
        return await eager(), ""

    async def captured() -> LmScheduler:
        scheduler = await executor.run(lambda: LmScheduler(adapter, sizes, executor=executor, replay=recorder()))
        await scheduler.warm(sampling)
        return scheduler

    return await captured_or_eager_async("CosyVoice's language model", captured, eager)


def compile_flow(flow: FlowNetwork, try_out: Callable[[], None]) -> str:
    """Compile the flow's estimator, which happens as `try_out` runs it; a warning where it stays eager."""

    def compiled() -> None:
        set_compiled(flow.estimator, compiled=True)
        try_out()

    _, warning = captured_or_eager("CosyVoice's flow", compiled, lambda: set_compiled(flow.estimator, compiled=False))
    return warning
