"""Answers: a session's speech as HTTP bodies, events, captions, archives and files."""
