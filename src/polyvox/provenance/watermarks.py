"""The watermarks of this server, by the names that the setting `watermark` has for them."""

from pathlib import Path
from typing import Literal

from polyvox.errors import BundleError
from polyvox.provenance.verification import Evidence, Finding, Verdict, WatermarkSearch
from polyvox.provenance.watermark import Watermarker
from polyvox.types import Pcm


def open_watermarker(name: Literal["none", "perth"], models_dir: Path) -> Watermarker | None:
    """The watermark of this name, ready; BundleError where its model is not installed."""
    if name == "none":
        return None
    from polyvox.provenance.perth.watermarker import Perth

    return Perth.installed(models_dir)


def installed_watermarker(models_dir: Path) -> Watermarker | None:
    """The watermark to look for in files, also where none is put in; None where its model is not installed."""
    try:
        return open_watermarker("perth", models_dir)
    except BundleError:
        return None


def search_for(watermarker: Watermarker) -> WatermarkSearch:
    """A search for one watermark, which states its finding."""

    def search(pcm: Pcm, sample_rate: int) -> Finding:
        found = watermarker.find(pcm, sample_rate)
        details = {"watermark": watermarker.name, "seconds": round(found.seconds, 2)}
        if found.found:
            says = f"The samples carry the watermark {watermarker.name}, which speech models put in; it names nobody."
            return Finding(Evidence.WATERMARK, Verdict.FOUND, found.confidence, says, details)
        says = f"The samples do not carry the watermark {watermarker.name}."
        return Finding(Evidence.WATERMARK, Verdict.NOT_FOUND, found.confidence, says, details)

    return search
