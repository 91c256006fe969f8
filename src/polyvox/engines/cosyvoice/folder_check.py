"""The check of a CosyVoice model folder, for `polyvox models check`."""

from collections.abc import Sequence
from pathlib import Path

from polyvox.engines.cosyvoice.bundle import CosyVoiceBundle, open_model
from polyvox.engines.cosyvoice.decoder.released_estimator import RELEASED, released_deviation
from polyvox.engines.cosyvoice.frontend.tags import Tags
from polyvox.engines.cosyvoice.prompt_features import PromptFeatureExtractor
from polyvox.models.cosyvoice.flow import Flow


def check_folder(folder: Path, lm: str) -> Sequence[str]:
    """Compare the weights with the model's configuration and open its other files; one line a finding."""
    bundle = open_model(folder, lm)
    lines = list(bundle.check_weights())
    PromptFeatureExtractor(bundle, threads=1)
    lines.append(f"{bundle.speaker_network.name} and {bundle.speech_tokenizer.name}: can be opened, inputs fit")
    tokenizer = bundle.tokenizer(Tags(bundle.version))
    lines.append(f"{tokenizer.source.name}: text ids up to {tokenizer.largest}")
    lines += _released_estimator(bundle)
    voices = sorted(bundle.voices("check"))
    lines.append(f"voices: {', '.join(voices) or 'none built in; the model speaks with cloned ones'}")
    lines.append(
        f"CosyVoice {bundle.version} in {folder} can be used: set POLYVOX_COSYVOICE{bundle.version}_DIR to it."
    )
    return lines


def _released_estimator(bundle: CosyVoiceBundle) -> list[str]:
    """Compare the published graph of the estimator, where it is there, with our network with the same weights."""
    path = bundle.folder / RELEASED
    if not path.is_file() or bundle.version == 1:
        return []
    flow = bundle.build("flow", bundle.weights("flow"))
    assert isinstance(flow, Flow)
    return [f"{RELEASED}: flow's estimator deviates from it by {released_deviation(path, flow):.1g} of the spread"]
