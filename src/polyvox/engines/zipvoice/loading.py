"""Loading of a model's networks: on a GPU that passes a trial, else on the CPU with a warning."""

import copy
from dataclasses import dataclass, replace
from pathlib import Path

import structlog
import torch
from torch import Tensor

from polyvox.bundles.validate import open_bundle
from polyvox.engines.zipvoice.bundle import load_networks, load_onnx_networks
from polyvox.engines.zipvoice.mel import BINS
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.settings import ZipVoiceSettings
from polyvox.engines.zipvoice.variants import Variant
from polyvox.errors import UnavailableError
from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput
from polyvox.models.zipvoice.model import ZipVoice
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.placement import DeviceRequest, Placement, place_models

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

VOCODER = "vocos"
MAX_DEVIATION = 0.1
"""Largest RMS error of a mel in less than float32, as a share of its spread. On the tests' weights it is 0.003 in
float16 and 0.03 in bfloat16; a network whose values leave float16's range gives no number at all."""
CPU = torch.device("cpu")


@dataclass(frozen=True, slots=True)
class PlacedNetworks:
    """Loaded networks and their device; `warning` says where that is not what the settings ask for."""

    networks: ZipVoiceNetworks
    device: torch.device
    warning: str = ""


def load(variant: Variant, models_dir: Path, settings: ZipVoiceSettings) -> PlacedNetworks:
    """Load an installed model by the executor and on the device that the settings name."""
    if settings.executor != "torch":
        return PlacedNetworks(_load_onnx(variant, models_dir, int8=settings.executor == "onnx-int8"), CPU)
    folder, vocoder = (open_bundle(name, models_dir).folder for name in (variant.name, VOCODER))

    request = DeviceRequest(settings.device, settings.precision, auto_dtype=torch.float16)
    doubts: list[str] = []

    def load_on(placement: Placement) -> ZipVoiceNetworks:
        device = torch.device(placement.device)
        if device.type == "cpu":
            return load_networks(variant, folder, vocoder, device, placement.dtype)
        networks = load_networks(variant, folder, vocoder, device)
        try_out(networks, variant.channels * BINS, device)
        rounded, doubt = in_precision(networks, placement.dtype, variant.channels * BINS, device)
        doubts.append(doubt)
        return rounded

    networks, placement, warning = place_models("ZipVoice", request, load_on, request.cpu)
    return PlacedNetworks(networks, torch.device(placement.device), " ".join(filter(None, (warning, *doubts))))


def _load_onnx(variant: Variant, models_dir: Path, *, int8: bool) -> ZipVoiceNetworks:
    if variant.dialogue:
        raise UnavailableError(f"There are no ONNX graphs of {variant.name!r}; set zipvoice_executor to 'torch'.")
    folder, vocoder = (open_bundle(name, models_dir).folder for name in (f"{variant.name}-onnx", VOCODER))
    return load_onnx_networks(variant, folder, vocoder, int8=int8, threads=share_of_cores(1))


@torch.inference_mode()
def try_out(networks: ZipVoiceNetworks, features: int, device: torch.device) -> None:
    """Run one step of two short rows and vocode them; `RuntimeError` where the device returns non-finite values."""
    mels = [mel[:, :BINS] for mel in _probe_mels(networks, features, device)]
    if not all(torch.isfinite(samples).all().item() for samples in networks.vocos(mels)):
        raise RuntimeError("it returns non-finite values")


@torch.inference_mode()
def in_precision(
    networks: ZipVoiceNetworks, dtype: torch.dtype, features: int, device: torch.device
) -> tuple[ZipVoiceNetworks, str]:
    """The same networks with the acoustic model in `dtype`; themselves and a warning where it computes another mel."""
    model = networks.acoustic_model
    if dtype == torch.float32 or not isinstance(model, ZipVoice):
        return networks, ""
    rounded = replace(networks, acoustic_model=copy.deepcopy(model).to(dtype))
    mel, exact = (torch.cat(_probe_mels(each, features, device)) for each in (rounded, networks))
    deviation = ((mel - exact).square().mean().sqrt() / exact.std()).item()
    log.info("zipvoice precision", dtype=str(dtype), deviation=round(deviation, 5))
    if deviation <= MAX_DEVIATION:  # false for NaN
        return rounded, ""
    warning = f"ZipVoice in {str(dtype).removeprefix('torch.')} differs too much from float32, so it runs in float32."
    log.warning(warning, deviation=deviation)
    return networks, warning


def _probe_mels(networks: ZipVoiceNetworks, features: int, device: torch.device) -> list[Tensor]:
    """The mels of two short rows after one step."""
    tokens = range(1, 4)
    inputs = [ZipVoiceInput(tokens, tokens, torch.zeros(frames, features, device=device)) for frames in (12, 15)]
    noise = [torch.ones(row.frames, features, device=device) for row in inputs]
    states = networks.acoustic_model.start(inputs, noise, [SolverOptions(1, 1.0)] * len(inputs))
    return [state.generated for state in networks.acoustic_model.step(states)]
