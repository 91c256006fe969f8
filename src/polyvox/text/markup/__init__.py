"""Markup in a caller's text: Markdown, inline tags, SSML, code blocks, and the script that they make."""
