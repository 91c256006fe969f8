"""ONNX Runtime as an executor of graphs on PyTorch tensors: on the CPU, or on a GPU without a copy to the host."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime
import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack

from polyvox.errors import BundleError
from polyvox.onnx_session import session_options

Provider = Literal["cpu", "cuda", "tensorrt"]

_CPU = "CPUExecutionProvider"
_PROVIDERS: dict[Provider, tuple[str, ...]] = {
    "cpu": (_CPU,),
    "cuda": ("CUDAExecutionProvider", _CPU),
    "tensorrt": ("TensorrtExecutionProvider", "CUDAExecutionProvider", _CPU),
}
_ELEMENTS = {torch.float32: np.float32, torch.int64: np.int64}


def available_providers() -> tuple[Provider, ...]:
    """The providers of the installed ONNX Runtime."""
    installed = onnxruntime.get_available_providers()
    return tuple(name for name, wanted in _PROVIDERS.items() if wanted[0] in installed)


class OrtTensorGraph:
    """One graph in a session of its own. On a GPU, inputs and outputs are bound to device memory."""

    def __init__(self, path: Path, provider: Provider, threads: int, options: Mapping[str, Any] | None = None) -> None:
        """`options` are the first provider's."""
        if provider not in available_providers():
            raise RuntimeError(
                f"the installed ONNX Runtime has no {_PROVIDERS[provider][0]}; install onnxruntime-gpu, or set "
                "cosyvoice_onnx_provider to 'cpu'"
            )
        names = _PROVIDERS[provider]
        self._on_gpu = provider != "cpu"
        # Inputs differ in length at every call.
        self._session = _open(path, session_options(threads, mem_pattern=False), names, options or {})
        self._outputs = [output.name for output in self._session.get_outputs()]

    def __call__(self, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
        device = next(iter(given.values())).device
        try:
            if not self._on_gpu:
                arrays = {name: tensor.cpu().contiguous().numpy() for name, tensor in given.items()}
                results = self._session.run(self._outputs, arrays)
                tensors: Sequence[Tensor] = [torch.from_numpy(each).to(device) for each in results]
            else:
                tensors = self._bound(given)
        except Exception as error:
            # ONNX Runtime raises classes of its own, all of them plain exceptions.
            raise RuntimeError(f"ONNX Runtime failed: {(str(error).splitlines() or ['unknown'])[0]}") from error
        return dict(zip(self._outputs, tensors, strict=True))

    def _bound(self, given: Mapping[str, Tensor]) -> list[Tensor]:
        binding, kept = self._session.io_binding(), []
        for name, tensor in given.items():
            kept.append(tensor.contiguous())
            where = tensor.device
            binding.bind_input(
                name, where.type, where.index or 0, _ELEMENTS[tensor.dtype], tuple(tensor.shape), kept[-1].data_ptr()
            )
        for name in self._outputs:
            binding.bind_output(name, "cuda", kept[0].device.index or 0)
        # The session has a stream of its own, which does not know of the work that makes the inputs.
        torch.cuda.current_stream().synchronize()
        self._session.run_with_iobinding(binding)
        return [from_dlpack(value._ortvalue.to_dlpack()) for value in binding.get_outputs()]


def _open(
    path: Path, options: onnxruntime.SessionOptions, providers: Sequence[str], first: Mapping[str, Any]
) -> onnxruntime.InferenceSession:
    configured = [(providers[0], dict(first)), *providers[1:]]
    try:
        return onnxruntime.InferenceSession(path, options, providers=configured)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BundleError(f"{path} cannot be opened as a graph ({reason}); export the model again.") from error
