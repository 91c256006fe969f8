"""Weights of NeuCodec's encoder: in the codec's own file, with those of w2v-bert in it or in a folder of their own."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from polyvox.bundles.weights import read_weights
from polyvox.engines.speechlm.bundle import codec_file, moved
from polyvox.errors import BundleError
from polyvox.models.loading import StateDict, WeightsError
from polyvox.models.speechlm.neucodec_encoder import (
    ACOUSTIC,
    SEMANTIC,
    NeuCodecEncoder,
    encoder_config,
    load_neucodec_encoder,
)

_PREFIXES = (SEMANTIC, ACOUSTIC, "SemanticEncoder_module.", "fc_prior.", "generator.quantizer.project_in.")
_SEMANTIC_FILE = "model.safetensors"


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    """Folders of the weights: the codec's folder, and the one of w2v-bert that is used where the codec's lacks it."""

    codec: Path
    semantic: Path

    def fault(self) -> str:
        """The fault that keeps the encoder from being loaded, as a clause, or ""; names and shapes take no memory."""
        try:
            state = self._read()
            # A filter is not loaded but compared, so it has to be there.
            _built({name: tensor if name.endswith("filter") else tensor.to("meta") for name, tensor in state.items()})
        except (WeightsError, BundleError) as error:
            return str(error).removesuffix(".")
        return ""

    def load(self, device: torch.device) -> NeuCodecEncoder:
        """The encoder on a device, in single precision: less would change tokens."""
        try:
            return moved(_built(self._read()), device)
        except WeightsError as error:
            raise BundleError(f"NeuCodec's encoder cannot be loaded: {error}.") from error

    def _read(self) -> dict[str, Tensor]:
        state = read_weights(codec_file(self.codec), mapped=True)
        state = {name: tensor for name, tensor in state.items() if name.startswith(_PREFIXES)}
        if not any(name.startswith(ACOUSTIC) for name in state):
            raise WeightsError(
                "the installed weights of NeuCodec have the decoder only; run `polyvox pull neucodec` for all of them, "
                "or put encoder.onnx beside them"
            )
        if any(name.startswith(SEMANTIC) for name in state):
            return state
        if not (self.semantic / _SEMANTIC_FILE).is_file():
            raise WeightsError("the installed weights lack those of w2v-bert 2.0; run `polyvox pull w2v-bert`")
        return state | {
            SEMANTIC + name: tensor for name, tensor in read_weights(self.semantic / _SEMANTIC_FILE).items()
        }


def _built(state: StateDict) -> NeuCodecEncoder:
    try:
        return load_neucodec_encoder(encoder_config(state), state)
    except (KeyError, IndexError, ZeroDivisionError) as error:
        raise WeightsError(f"the installed weights are not of NeuCodec's encoder ({error})") from error
