"""The service as operators see it: metrics, logs, traces, and records of chunks."""
