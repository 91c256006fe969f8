"""A thread's own line of work on a GPU, so that it does not wait for what other threads have asked for."""

import torch


def use_own_stream(device: torch.device, *, urgent: bool = False) -> None:
    """From now on, what the calling thread asks of a GPU runs beside what others do; what is urgent goes first.

    Everything asked for until now is waited for: weights may still be on their way.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.set_stream(torch.cuda.Stream(device, priority=-1 if urgent else 0))  # type: ignore[no-untyped-call]
