"""Verification: the evidence in a file of where it comes from, each with how sure it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from polyvox.audio.pcm import to_pcm16
from polyvox.provenance.block_hashes import BlockMatch
from polyvox.provenance.manifest import Manifest, SignedManifest
from polyvox.provenance.marks import SYNTHETIC, Marks
from polyvox.provenance.signing_key import PublicKey
from polyvox.types import Pcm


class Evidence(StrEnum):
    """Kinds of evidence, from the one that is easiest to lose to the one that lasts."""

    TAGS = "tags"
    SIGNATURE = "signature"
    WATERMARK = "watermark"


class Verdict(StrEnum):
    """The result of looking for evidence."""

    FOUND = "found"
    PARTIAL = "partial"
    NOT_FOUND = "not_found"
    INVALID = "invalid"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of evidence: the verdict, how sure it is from 0 to 1, a sentence, and details."""

    evidence: Evidence
    verdict: Verdict
    confidence: float
    says: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was found in one file."""

    findings: tuple[Finding, ...]

    @property
    def synthetic(self) -> bool | None:
        """True if some evidence says that this is synthetic speech; None where none says anything."""
        return True if any(each.verdict in (Verdict.FOUND, Verdict.PARTIAL) for each in self.findings) else None

    def as_json(self) -> dict[str, Any]:
        """The findings as the door answers them."""
        return {"synthetic": self.synthetic, "findings": [asdict(each) for each in self.findings]}


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A file under verification: its bytes, its tags, and its samples where they could be decoded."""

    data: bytes
    tags: Mapping[str, str]
    samples: tuple[Pcm, int] | None
    unreadable: str = ""
    """The reason why there are no samples."""


WatermarkSearch = Callable[[Pcm, int], Finding]
"""Looks for a watermark in samples of a rate."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """Verifies files with what one server, or one command, knows: keys, manifests, and perhaps a watermark."""

    manifest: Callable[[str], SignedManifest | None]
    keys: Sequence[PublicKey]
    watermark: WatermarkSearch | None = None

    def verify(self, exhibit: Exhibit, signed: SignedManifest | None = None) -> Findings:
        """Look for all evidence; blocks. A manifest that the caller has goes before the one that is kept here."""
        marks = Marks.found_in(exhibit.tags)
        if signed is None and marks is not None and marks.content_id:
            signed = self.manifest(marks.content_id)
        return Findings((tags_finding(marks), self._signature(exhibit, signed), self._watermark(exhibit)))

    def _signature(self, exhibit: Exhibit, signed: SignedManifest | None) -> Finding:
        if signed is None:
            return _signature(Verdict.NOT_FOUND, 0.0, "No signed manifest is known for this file.")
        if not any(signed.is_signed_by(key) for key in self.keys):
            known = any(key.id == signed.key for key in self.keys)
            reason = (
                "was altered after it was signed" if known else f"names the key {signed.key}, which is not known here"
            )
            return _signature(Verdict.INVALID, 0.0, f"The manifest {reason}; nothing it says counts.")
        return matched_finding(exhibit, signed.manifest)

    def _watermark(self, exhibit: Exhibit) -> Finding:
        if exhibit.samples is None:
            return Finding(Evidence.WATERMARK, Verdict.NOT_CHECKED, 0.0, exhibit.unreadable)
        if self.watermark is None:
            return Finding(Evidence.WATERMARK, Verdict.NOT_CHECKED, 0.0, "No watermark is set up here to look for.")
        return self.watermark(*exhibit.samples)


def tags_finding(marks: Marks | None) -> Finding:
    """The finding on the tags of a file. Anybody can write tags, and any encoder can drop them."""
    if marks is None:
        says = "The file has no tags that tell its source; an encoder may have dropped them."
        return Finding(Evidence.TAGS, Verdict.NOT_FOUND, 0.0, says)
    if marks.source != SYNTHETIC:
        says = "The tags name another source than a trained model."
        return Finding(Evidence.TAGS, Verdict.NOT_FOUND, 0.0, says, {"source": marks.source})
    says = "The tags say that the speech is synthetic. They are not protected: anybody can write or remove them."
    details = {"software": marks.software, "model": marks.model, "made": marks.made, "content_id": marks.content_id}
    return Finding(Evidence.TAGS, Verdict.FOUND, 0.5, says, {"source": marks.source, **details})


def matched_finding(exhibit: Exhibit, manifest: Manifest) -> Finding:
    """The finding on a file whose manifest is genuine: whether it is the file, or a part of it, that was signed."""
    about = {name: getattr(manifest, name) for name in ("id", "software", "model", "voice", "made", "complete")}
    data = manifest.data.match(exhibit.data)
    if data.is_whole:
        return _signature(Verdict.FOUND, 1.0, "The file is the one that was signed, to the last byte.", about)
    samples = _samples_match(exhibit, manifest)
    if samples is not None and samples.is_whole:
        says = "The samples are those that were signed; only the file around them was written anew."
        return _signature(Verdict.FOUND, 1.0, says, about)
    best = max((match for match in (data, samples) if match is not None), key=lambda match: match.matched)
    if best.matched:
        says = (
            f"The first {best.matched} of {best.signed} signed blocks are genuine; what follows was cut off or changed."
        )
        return _signature(Verdict.PARTIAL, best.matched / best.signed, says, about)
    says = "The manifest is genuine, but this audio is not what was signed: it was changed, or encoded again."
    return _signature(Verdict.INVALID, 0.0, says, about)


def _samples_match(exhibit: Exhibit, manifest: Manifest) -> BlockMatch | None:
    """The match of the samples; None where there are none, or of another rate than was signed."""
    if exhibit.samples is None or exhibit.samples[1] != manifest.sample_rate:
        return None
    return manifest.pcm.match(to_pcm16(exhibit.samples[0]))


def _signature(verdict: Verdict, confidence: float, says: str, details: Mapping[str, Any] | None = None) -> Finding:
    return Finding(Evidence.SIGNATURE, verdict, confidence, says, details or {})
