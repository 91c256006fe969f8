"""Provenance: marks, manifests and findings that tell synthetic speech from a recording."""
