"""Whether a server can speak, and why not."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether requests for the default model can be served, and the reason for each model that is not available.

    `warnings` are about models that work, but not as their settings ask.
    """

    ok: bool
    reasons: dict[str, str]
    warnings: dict[str, str] = field(default_factory=dict)
