"""Loading of a model's networks: on a GPU that passes a trial, else on the CPU with a warning."""

from dataclasses import dataclass
from pathlib import Path

import torch

from polyvox.bundles.validate import open_bundle
from polyvox.engines.zipvoice.bundle import load_networks, load_onnx_networks
from polyvox.engines.zipvoice.mel import BINS
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.settings import ZipVoiceSettings
from polyvox.engines.zipvoice.variants import Variant
from polyvox.errors import UnavailableError
from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.placement import DeviceRequest, Placement, place_models

VOCODER = "vocos"
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

    def load_on(placement: Placement) -> ZipVoiceNetworks:
        device = torch.device(placement.device)
        networks = load_networks(variant, folder, vocoder, device)
        if device.type != "cpu":
            try_out(networks, variant.channels * BINS, device)
        return networks

    networks, placement, warning = place_models("ZipVoice", DeviceRequest(settings.device, "float32"), load_on)
    return PlacedNetworks(networks, torch.device(placement.device), warning)


def _load_onnx(variant: Variant, models_dir: Path, *, int8: bool) -> ZipVoiceNetworks:
    if variant.dialogue:
        raise UnavailableError(f"There are no ONNX graphs of {variant.name!r}; set zipvoice_executor to 'torch'.")
    folder, vocoder = (open_bundle(name, models_dir).folder for name in (f"{variant.name}-onnx", VOCODER))
    return load_onnx_networks(variant, folder, vocoder, int8=int8, threads=share_of_cores(1))


@torch.inference_mode()
def try_out(networks: ZipVoiceNetworks, features: int, device: torch.device) -> None:
    """Run one step of two short rows and vocode them; `RuntimeError` where the device returns non-finite values."""
    tokens = range(1, 4)
    inputs = [ZipVoiceInput(tokens, tokens, torch.zeros(frames, features, device=device)) for frames in (12, 15)]
    noise = [torch.ones(row.frames, features, device=device) for row in inputs]
    states = networks.acoustic_model.start(inputs, noise, [SolverOptions(1, 1.0)] * len(inputs))
    mels = [state.generated[:, :BINS] for state in networks.acoustic_model.step(states)]
    if not all(torch.isfinite(samples).all().item() for samples in networks.vocos(mels)):
        raise RuntimeError("it returns non-finite values")
