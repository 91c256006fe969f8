"""CosyVoice's tuning parameters."""

from polyvox.engines.kit.tuning import Tuning


class CosyVoiceTuning(Tuning):
    """Parameters of one request, by CosyVoice's names."""

    zero_shot: bool = False
    """Continue the reference recording also where the text is of another language; its transcript is then required."""
