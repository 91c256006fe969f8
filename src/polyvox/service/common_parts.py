"""Parts of a service that all processes of one server have in common."""

from dataclasses import dataclass

from polyvox.config import Settings
from polyvox.service.admission.admission import Admission
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.admission.open_counts import OpenCounts
from polyvox.service.cache.model_fingerprint import ModelFingerprints
from polyvox.service.keys.accounts import Accounts
from polyvox.service.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class CommonParts:
    """One admission, one account of every key, one fingerprint of each model's weights, one count of what is open."""

    admission: Admission
    accounts: Accounts
    fingerprints: ModelFingerprints
    open_counts: OpenCounts

    @classmethod
    def of(cls, settings: Settings, metrics: Metrics) -> "CommonParts":
        """Those of a server with one process."""
        admission = AdmissionController.of(settings, metrics.waited)
        return cls(admission, Accounts(settings, metrics), ModelFingerprints(settings), OpenCounts())
