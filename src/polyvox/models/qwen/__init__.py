"""Qwen decoder-only transformer."""
