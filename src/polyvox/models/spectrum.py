"""Short-time Fourier transform and its inverse by overlap-add, with a periodic Hann window."""

import torch
from torch import Tensor


def hann_like(frames: Tensor) -> Tensor:
    """The periodic Hann window over the last dimension of `frames`."""
    return torch.hann_window(frames.shape[-1], periodic=True, dtype=frames.dtype, device=frames.device)


def stft(samples: Tensor, size: int, hop: int) -> Tensor:
    """Spectra of all whole frames of `samples` [batch, time]: real above imaginary parts, [batch, size + 2, n]."""
    frames = samples.unfold(-1, size, hop)
    spectra = torch.fft.rfft(frames * hann_like(frames))
    return torch.cat((spectra.real, spectra.imag), dim=-1).transpose(1, 2)


def istft_frames(magnitude: Tensor, phase: Tensor, size: int) -> Tensor:
    """Inverse transform of spectra [batch, size / 2 + 1, n] to windowed frames [batch, n, size]."""
    frames = real_frames(torch.polar(magnitude, phase).transpose(1, 2), size)
    return frames * hann_like(frames)


def real_frames(spectra: Tensor, size: int) -> Tensor:
    """Inverse transform of spectra [..., size / 2 + 1] to frames [..., size].

    The first and the last bin of a real signal are real. A network's are not, and cuFFT adds their imaginary parts to
    the frames or leaves them out, as the number of frames would have it: a stream beside others had a tone of its own.
    """
    first, inner, last = torch.split(spectra, [1, size // 2 - 1, 1], dim=-1)
    frames: Tensor = torch.fft.irfft(torch.cat((first.real, inner, last.real), dim=-1), n=size)
    return frames


def squared_window(frames: Tensor) -> Tensor:
    """The square of the window of each frame, whose overlap-add normalises theirs."""
    return hann_like(frames).square().expand(1, *frames.shape[1:])


def overlap_add(frames: Tensor, hop: int) -> Tensor:
    """Sum frames [batch, n, size] placed `hop` apart: [batch, (n - 1) * hop + size]."""
    batch, count, size = frames.shape
    parts = frames.view(batch, count, size // hop, hop)
    out = frames.new_zeros(batch, count + size // hop - 1, hop)
    for index in range(size // hop):
        out[:, index : index + count] += parts[:, :, index]
    return out.flatten(1)


def reflect_end(samples: Tensor, padding: Tensor, more: int) -> Tensor:
    """Reflect `samples` [batch, time] at the end of those before the last `padding` [batch], extended by `more`."""
    last = samples.shape[1] - 1 - padding[:, None]
    positions = torch.arange(samples.shape[1] + more, device=samples.device)
    return samples.gather(1, torch.where(positions > last, 2 * last - positions, positions).clamp(min=0))


def zero_last(frames: Tensor, padding: Tensor) -> Tensor:
    """Zero the last `padding` [batch] of frames [batch, n, size]."""
    return (
        frames * (torch.arange(frames.shape[1], device=frames.device) < frames.shape[1] - padding[:, None])[..., None]
    )


def last_before(samples: Tensor, length: int, padding: Tensor | None) -> Tensor:
    """The last `length` of [batch, ..., time] before the last `padding` [batch]."""
    start = samples.shape[-1] - length
    if padding is None:
        return samples[..., start:]
    positions = (start - padding).view(-1, *[1] * (samples.dim() - 1)) + torch.arange(length, device=samples.device)
    return samples.gather(-1, positions.expand(*samples.shape[:-1], length))
