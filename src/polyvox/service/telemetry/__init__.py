"""What operators see of the service: metrics, logs, traces, and records of chunks."""
