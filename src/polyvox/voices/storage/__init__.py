"""Registered voices: records and recordings, in a folder of this machine or in PostgreSQL and S3."""
