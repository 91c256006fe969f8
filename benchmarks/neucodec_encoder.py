"""Time, memory and rounding of NeuCodec's encoder at full size: `python -m benchmarks.neucodec_encoder`.

The weights are random: arithmetic takes the same time whatever it says. How many tokens a precision changes depends on
the weights, and is only a hint.
"""

import argparse
import copy
import resource
import time
from dataclasses import dataclass

import numpy as np
import torch

from benchmarks.random_weights import randomize
from polyvox.audio.features import w2v_bert_features
from polyvox.engines.speechlm.encoder import NetworkEncoder
from polyvox.models.speechlm.neucodec_encoder import SAMPLE_RATE, NeuCodecEncoder, NeuCodecEncoderConfig, codes_of
from polyvox.runtime.placement import PRECISIONS
from polyvox.types import Pcm


@dataclass(frozen=True, slots=True)
class EncodingFigures:
    """One length of recording, after a run that warms up; memory is the process's, or the GPU's, at its most."""

    audio_seconds: float
    seconds: float
    megabytes: float
    tokens: int


def random_encoder(config: NeuCodecEncoderConfig, device: torch.device) -> NeuCodecEncoder:
    """An encoder of these sizes with seeded weights."""
    torch.manual_seed(0)
    with torch.device(device):
        return randomize(NeuCodecEncoder(config), torch.float32)


def recording(seconds: float) -> Pcm:
    """A noise that comes and goes as syllables do."""
    times = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    noise = np.random.default_rng(0).normal(0, 0.1, len(times)) * (1 + np.sin(2 * np.pi * 4 * times))
    samples: Pcm = noise.astype(np.float32)
    return samples


def measured(network: NeuCodecEncoder, seconds: float) -> EncodingFigures:
    """Encode a recording twice, as the engine does, and time the second run."""
    encoder = NetworkEncoder(lambda: network)
    pcm = recording(seconds)
    encoder.encode(pcm)
    began = time.perf_counter()
    tokens = encoder.encode(pcm)
    took = time.perf_counter() - began
    on_gpu = network.project_in.weight.device.type == "cuda"
    most = torch.cuda.max_memory_allocated() / 1e6 if on_gpu else _resident_megabytes()
    return EncodingFigures(seconds, took, most, len(tokens))


@torch.inference_mode()
def changed_by_precision(network: NeuCodecEncoder, seconds: float, dtype: torch.dtype) -> float:
    """The share of tokens that change where w2v-bert computes in this precision and the rest in float32."""
    device = network.project_in.weight.device
    samples = network.padded(torch.from_numpy(recording(seconds)))
    features = torch.from_numpy(w2v_bert_features(samples.numpy()))[None].to(device)
    exact = network(features, samples[None].to(device))
    hidden = copy.deepcopy(network.semantic).to(dtype)(features.to(dtype)).float()
    semantic = network.semantic_encoder(hidden.transpose(1, 2))
    acoustic = network.acoustic_encoder(samples[None].to(device))[:, :, : semantic.shape[2]]
    joined = torch.cat((semantic, acoustic), dim=1).transpose(1, 2)
    rounded = codes_of(network.project_in(network.fc_prior(joined)))
    return float((rounded != exact).float().mean())


def _resident_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, nargs="+", default=[3.0, 10.0, 30.0], help="of the recordings")
    given = parser.parse_args()
    network = random_encoder(NeuCodecEncoderConfig(), torch.device(given.device))
    print("audio s  seconds  most MB  tokens")
    for seconds in given.seconds:
        figures = measured(network, seconds)
        print(f"{seconds:7.1f}  {figures.seconds:7.2f}  {figures.megabytes:7.0f}  {figures.tokens:6d}", flush=True)
    for name in ("float16", "bfloat16"):
        share = changed_by_precision(network, min(given.seconds), PRECISIONS[name])
        print(f"w2v-bert in {name}: {100 * share:.1f} % of the tokens change", flush=True)


if __name__ == "__main__":
    main()
