"""Labels that are known before anything is counted.

Their series exist at 0 from the start: a counter that appears with its first fault has, to Prometheus, not risen.
"""

CONNECTION_LIMITS = ("address", "descriptors", "header_timeout", "headers", "idle", "invalid", "total")
"""Limits at which connections are closed."""
BODY_LIMITS = ("address", "slow", "total")
"""Limits at which bodies of requests are refused."""
SPAN_LOSSES = ("export", "queue")
"""Reasons for which spans are lost."""
SPEECH_CACHE_EVENTS = ("evicted", "expired", "hit", "miss", "stored", "too_large")
SESSION_ENDS = ("cancelled", "done", "failed")
JOB_ENDS = ("cancelled", "done", "failed", "paused")
JOB_CHECKS = ("checked", "remaining", "respoken", "unchecked")
MODEL_EVENTS = ("failed", "loaded", "unloaded")
