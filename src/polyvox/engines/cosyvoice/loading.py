"""Loading a model: its networks, tried out on their device, its tokenizer and its voices."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import structlog
import torch

from polyvox.engines.cosyvoice.bundle import CosyVoiceBundle, open_model
from polyvox.engines.cosyvoice.decoder.budget import ByteBudget
from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav
from polyvox.engines.cosyvoice.decoder.token2wav_v1 import Token2Wav1
from polyvox.engines.cosyvoice.execution import compile_flow
from polyvox.engines.cosyvoice.frontend.frontend import CosyVoiceFrontend
from polyvox.engines.cosyvoice.frontend.tags import Tags
from polyvox.engines.cosyvoice.frontend.tokenizer import TextTokenizer
from polyvox.engines.cosyvoice.frontend.whisper_tokenizer import WhisperTokenizer
from polyvox.engines.cosyvoice.prompt_features import PromptFeatureExtractor
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.errors import BundleError
from polyvox.models.cosyvoice.flow import Flow, FlowNetwork
from polyvox.models.cosyvoice.flow_v1 import Flow1
from polyvox.models.cosyvoice.lm import CosyVoiceLm, SpeechPrompt
from polyvox.models.cosyvoice.lm_v1 import CosyVoice1Lm
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.model import Hift
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.placement import DeviceRequest, Placement, place_models
from polyvox.types import PreparedVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CosyVoiceNetworks:
    """Language model and audio decoder; `warning` says what does not run as the settings ask."""

    lm: CosyVoiceLm | CosyVoice1Lm
    token2wav: Token2Wav | Token2Wav1
    warning: str = ""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory; `warning` says what is not as the settings ask."""

    bundle: CosyVoiceBundle
    networks: CosyVoiceNetworks
    placement: Placement
    warning: str
    tokenizer: TextTokenizer | WhisperTokenizer
    frontend: CosyVoiceFrontend
    features: PromptFeatureExtractor
    voices: dict[str, PreparedVoice]


def load_model(folder: Path, version: int, settings: CosyVoiceSettings) -> LoadedModel:
    """Load the model in a folder; this takes a while."""
    bundle = open_model(folder, settings.lm)
    if bundle.version != version:
        raise BundleError(
            f"{bundle.folder} holds CosyVoice {bundle.version}, not {version}; load it as 'cosyvoice{bundle.version}'."
        )
    log.info("cosyvoice loads", version=version, lm=bundle.lm_name)
    tags = Tags(version)
    tokenizer = bundle.tokenizer(tags)
    wish = DeviceRequest(settings.device, settings.precision)
    networks, placement, warning = place_models(
        "CosyVoice", wish, lambda place: _load_networks(bundle, place, settings)
    )
    return LoadedModel(
        bundle=bundle,
        networks=networks,
        placement=placement,
        warning=" ".join(filter(None, (warning, networks.warning))),
        tokenizer=tokenizer,
        frontend=CosyVoiceFrontend(tags, lambda text: len(tokenizer.encode(text))),
        features=PromptFeatureExtractor(bundle, share_of_cores(1)),
        voices=bundle.voices(f"cosyvoice{version}"),
    )


def _load_networks(bundle: CosyVoiceBundle, placement: Placement, settings: CosyVoiceSettings) -> CosyVoiceNetworks:
    lm = bundle.build("llm", bundle.weights("llm"), placement.dtype).to(placement.device)
    assert isinstance(lm, CosyVoiceLm | CosyVoice1Lm)
    flow = bundle.build("flow", bundle.weights("flow"), placement.dtype)
    vocoder = bundle.build("hift", bundle.weights("hift"))
    assert isinstance(flow, FlowNetwork)
    networks = CosyVoiceNetworks(lm, _token2wav(flow, vocoder, placement, settings))
    _try_out(networks, placement)
    if settings.compile:
        return replace(networks, warning=compile_flow(flow, lambda: _try_out(networks, placement)))
    return networks


def _token2wav(
    flow: FlowNetwork, vocoder: torch.nn.Module, placement: Placement, settings: CosyVoiceSettings
) -> Token2Wav | Token2Wav1:
    if isinstance(flow, Flow1):
        assert isinstance(vocoder, Hift)
        return Token2Wav1(flow, vocoder, placement)
    assert isinstance(flow, Flow)
    assert isinstance(vocoder, Hift | CausalHift)
    budget = ByteBudget(settings.flow_bytes or free_bytes(placement.device) // 2)
    return Token2Wav(flow, vocoder, placement, settings.flow_memory, settings.flow_window, budget)


def free_bytes(device: str) -> int:
    """The free memory of a GPU, or all memory of the machine."""
    if device == "cuda":
        free: int = torch.cuda.mem_get_info()[0]
        return free
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@torch.inference_mode()
def _try_out(networks: CosyVoiceNetworks, placement: Placement) -> None:
    """Run all networks on a short input; RuntimeError where a device computes non-finite values."""
    ids = torch.zeros(1, 4, dtype=torch.long, device=placement.device)
    scores, state = networks.lm.prefill(SpeechPrompt(ids, ids, ids))
    scores, _ = networks.lm.step(scores[:, : networks.lm.speech.speech].argmax(dim=-1), state)
    token2wav = networks.token2wav
    voice = PreparedVoice("", "", {"embedding": np.ones(token2wav.flow.config.speaker, np.float32)})
    decoded = token2wav.step([0] * 4, token2wav.start(voice), final=True)
    if not torch.isfinite(scores).all().item() or not np.isfinite(decoded.pcm).all():
        raise RuntimeError("it computes non-finite values")
