"""Short spectra and the way back from them."""

import torch
from torch import Tensor


def window_like(frames: Tensor) -> Tensor:
    """The periodic Hann window over the last dimension of `frames`."""
    return torch.hann_window(frames.shape[-1], periodic=True, dtype=frames.dtype, device=frames.device)


def analysed(samples: Tensor, size: int, hop: int) -> Tensor:
    """The spectra of all whole frames of `samples` [batch, time]: real over imaginary parts, [batch, size + 2, n]."""
    frames = samples.unfold(-1, size, hop)
    spectra = torch.fft.rfft(frames * window_like(frames))
    return torch.cat((spectra.real, spectra.imag), dim=-1).transpose(1, 2)


def frames_of(magnitude: Tensor, phase: Tensor, size: int) -> Tensor:
    """Spectra [batch, size / 2 + 1, n] as windowed frames of samples, [batch, n, size]."""
    frames: Tensor = torch.fft.irfft(torch.polar(magnitude, phase).transpose(1, 2), n=size)
    return frames * window_like(frames)


def weights_of(frames: Tensor) -> Tensor:
    """What windowed frames weigh: the square of their window, for analysis and synthesis."""
    return window_like(frames).square().expand(1, *frames.shape[1:])


def overlapped(frames: Tensor, hop: int) -> Tensor:
    """Frames [batch, n, size] laid over each other, `hop` apart: [batch, (n - 1) * hop + size]."""
    batch, count, size = frames.shape
    parts = frames.view(batch, count, size // hop, hop)
    out = frames.new_zeros(batch, count + size // hop - 1, hop)
    for index in range(size // hop):
        out[:, index : index + count] += parts[:, :, index]
    return out.flatten(1)


def mirrored(samples: Tensor, surplus: Tensor, more: int) -> Tensor:
    """`samples` [batch, time] and `more` behind them, with those before the last `surplus` mirrored at their end."""
    last = samples.shape[1] - 1 - surplus
    places = torch.arange(samples.shape[1] + more, device=samples.device)
    return samples[:, torch.where(places > last, 2 * last - places, places).clamp(min=0)]


def without_last(frames: Tensor, surplus: Tensor) -> Tensor:
    """Frames [batch, n, size] with zeros for the last `surplus` of them."""
    return frames * (torch.arange(frames.shape[1], device=frames.device) < frames.shape[1] - surplus)[:, None]
