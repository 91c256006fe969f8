"""Everything of a model that is loaded once: its networks, tried out, its tokenizer and its voices."""

import os
from dataclasses import dataclass, replace

import numpy as np
import torch

from polyvox.config import Settings
from polyvox.engines.cosyvoice.budget import ByteBudget
from polyvox.engines.cosyvoice.bundle import CosyVoiceBundle, open_model
from polyvox.engines.cosyvoice.executing import fused_flow
from polyvox.engines.cosyvoice.frontend import CosyVoiceFrontend
from polyvox.engines.cosyvoice.listening import Listener
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.engines.cosyvoice.sound import Sound
from polyvox.engines.cosyvoice.tags import Tags
from polyvox.engines.cosyvoice.tokenizer import TextTokenizer
from polyvox.errors import BundleError
from polyvox.models.cosyvoice.flow import Flow
from polyvox.models.cosyvoice.lm import CosyVoiceLm, SpeechPrompt
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.model import Hift
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.placement import DeviceRequest, Placement, place_models
from polyvox.types import PreparedVoice


@dataclass(frozen=True, slots=True)
class Networks:
    """The two that make tokens and sound; `warning` says what does not run as the settings wish."""

    lm: CosyVoiceLm
    sound: Sound
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """A model in memory; `warning` says what is not as the settings wish."""

    bundle: CosyVoiceBundle
    networks: Networks
    placement: Placement
    warning: str
    tags: Tags
    tokenizer: TextTokenizer
    frontend: CosyVoiceFrontend
    listener: Listener
    voices: dict[str, PreparedVoice]


def load_model(settings: Settings, version: int) -> Model:
    """Read the model that the settings name; this takes a while."""
    engine = f"cosyvoice{version}"
    own = settings.section(CosyVoiceSettings)
    folder = own.version2_dir if version == 2 else own.version3_dir
    bundle = open_model(folder or settings.models_dir / engine, own.lm)
    if bundle.version != version:
        raise BundleError(
            f"{bundle.folder} holds CosyVoice {bundle.version}, not {version}; load it as 'cosyvoice{bundle.version}'."
        )
    tags = Tags(version)
    tokenizer = TextTokenizer(bundle.backbone, tags)
    if tokenizer.largest >= bundle.recipe.lm.backbone.vocabulary:
        raise BundleError(f"The tokenizer in {bundle.folder} has more ids than the language model; fetch it again.")
    wish = DeviceRequest(own.device, own.precision)
    networks, placement, warning = place_models("CosyVoice", wish, lambda place: _networks(bundle, place, own))
    return Model(
        bundle=bundle,
        networks=networks,
        placement=placement,
        warning=" ".join(filter(None, (warning, networks.warning))),
        tags=tags,
        tokenizer=tokenizer,
        frontend=CosyVoiceFrontend(tags, lambda text: len(tokenizer.encode(text))),
        listener=Listener(bundle, share_of_cores(1)),
        voices=bundle.voices(engine),
    )


def _networks(bundle: CosyVoiceBundle, placement: Placement, own: CosyVoiceSettings) -> Networks:
    lm = bundle.build("llm", bundle.weights("llm"), placement.dtype).to(placement.device)
    assert isinstance(lm, CosyVoiceLm)
    flow = bundle.build("flow", bundle.weights("flow"), placement.dtype)
    vocoder = bundle.build("hift", bundle.weights("hift"))
    assert isinstance(flow, Flow)
    assert isinstance(vocoder, Hift | CausalHift)
    budget = ByteBudget(own.flow_bytes or free_bytes(placement.device) // 2)
    sound = Sound(flow, vocoder, placement, own.flow_memory, own.flow_window, budget)
    networks = Networks(lm, sound)
    _try_out(networks, placement)
    if own.compile:
        return replace(networks, warning=fused_flow(flow, lambda: _try_out(networks, placement)))
    return networks


def free_bytes(device: str) -> int:
    """What a GPU has left, or the whole memory of the machine."""
    if device == "cuda":
        free: int = torch.cuda.mem_get_info()[0]
        return free
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@torch.inference_mode()
def _try_out(networks: Networks, placement: Placement) -> None:
    """Let both say something short; RuntimeError where a device answers with what are no numbers."""
    ids = torch.zeros(1, 4, dtype=torch.long, device=placement.device)
    scores, state = networks.lm.prefill(SpeechPrompt(ids, ids, ids))
    scores, _ = networks.lm.step(scores[:, : networks.lm.config.speech.speech].argmax(dim=-1), state)
    voice = PreparedVoice("", "", {"embedding": np.ones(networks.sound.flow.config.speaker, np.float32)})
    sounded = networks.sound.step([0] * 4, networks.sound.start(voice), final=True)
    if not torch.isfinite(scores).all().item() or not np.isfinite(sounded.pcm).all():
        raise RuntimeError("it answers with what are no numbers")
