"""Chatterbox's S3Gen: the networks of one published file that hear a voice and turn speech tokens into samples.

They are CosyVoice 2's, with other settings: the source of version 1 at 24 kHz in the vocoder, and in Turbo and Nano an
estimator of mean velocities that needs two steps and no guidance.
"""

from dataclasses import dataclass, field

import torch
from torch import nn

from polyvox.models.chatterbox.speech_tokenizer import SpeechTokenizer, SpeechTokenizerConfig, load_speech_tokenizer
from polyvox.models.cosyvoice.flow import Flow, FlowConfig
from polyvox.models.cosyvoice.flow_v2 import Flow2Config, load_flow2
from polyvox.models.hift.model import Hift, HiftConfig, load_hift
from polyvox.models.hift.source import SourceConfig
from polyvox.models.listeners.campplus import CampPlus, CampPlusConfig, load_campplus
from polyvox.models.loading import StateDict, under

MEANFLOW_STEPS = 2
_COUNTER = ".num_batches_tracked"


@dataclass(frozen=True, slots=True)
class S3GenConfig:
    """Sizes of the four networks; the defaults are those of the release with ten guided steps."""

    tokenizer: SpeechTokenizerConfig = field(default_factory=SpeechTokenizerConfig)
    speaker_encoder: CampPlusConfig = field(default_factory=CampPlusConfig)
    flow: Flow2Config = field(default_factory=Flow2Config)
    hift: HiftConfig = field(default_factory=lambda: HiftConfig(SourceConfig(per_sample=True)))


def meanflow(config: FlowConfig, steps: int = MEANFLOW_STEPS) -> FlowConfig:
    """The settings of a flow of mean velocities."""
    return FlowConfig(
        config.tokens, config.bins, config.speaker, config.ahead, config.block, steps, guidance=0.0, meanflow=True
    )


class S3Gen(nn.Module):
    """The networks of one file."""

    def __init__(self, tokenizer: SpeechTokenizer, speaker_encoder: CampPlus, flow: Flow, vocoder: Hift) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.speaker_encoder = speaker_encoder
        self.flow = flow
        self.vocoder = vocoder


def load_s3gen(config: S3GenConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> S3Gen:
    """Load a published `s3gen` state dict; `dtype` is the flow's."""
    speaker = under("speaker_encoder.", state)
    return S3Gen(
        load_speech_tokenizer(config.tokenizer, under("tokenizer.", state)),
        load_campplus(
            config.speaker_encoder, {name: each for name, each in speaker.items() if not name.endswith(_COUNTER)}
        ),
        load_flow2(config.flow, under("flow.", state), dtype),
        load_hift(config.hift, under("mel2wav.", state)),
    )
