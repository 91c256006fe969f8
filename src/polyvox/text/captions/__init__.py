"""Captions: timed words as cues that people can read, and files of them."""

from polyvox.text.captions.cues import Cue, cues, cues_of
from polyvox.text.captions.files import CAPTION_MEDIA_TYPES, CAPTION_SUFFIXES, CaptionFormat, captions, json_captions
from polyvox.text.captions.rules import CueRules
from polyvox.text.captions.words import CaptionWord, caption_words

__all__ = [
    "CAPTION_MEDIA_TYPES",
    "CAPTION_SUFFIXES",
    "CaptionFormat",
    "CaptionWord",
    "Cue",
    "CueRules",
    "caption_words",
    "captions",
    "cues",
    "cues_of",
    "json_captions",
]
