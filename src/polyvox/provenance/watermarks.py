"""The watermarks of this server, by the names that the setting `watermark` has for them."""

from pathlib import Path
from typing import Literal

from polyvox.provenance.watermark import Watermarker


def open_watermarker(name: Literal["none", "perth"], models_dir: Path) -> Watermarker | None:
    """The watermark of this name, ready; BundleError where its model is not installed."""
    if name == "none":
        return None
    from polyvox.provenance.perth.watermarker import Perth

    return Perth.installed(models_dir)
