"""Recordings on their way in: fetched, decoded, checked."""
