"""The vocabulary of CosyVoice's speech head."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpeechVocabulary:
    """Speech tokens and special ids of the speech head."""

    speech: int
    """Ids below this are speech tokens."""
    rows: int
    """All ids; those from `speech` on end the sequence, except `fill` where text is still to come."""
    eos: int
    fill: int
    """Asks for more text; -1 where the version does not interleave text and speech."""
    marks_are_speech_rows: bool
    """True if the start and task tokens are rows of the speech embedding, and not of a table of their own."""
    sos: int
    task: int

    def suppressed(self, *, original: bool = False) -> slice:
        """The ids suppressed before the minimum length.

        The original suppresses only the first id above speech. In version 3 that is the start token, which is never
        sampled, so that its minimum length has no effect.
        """
        return slice(self.speech, self.speech + 1 if original else self.rows)


def vocabulary_v1(speech: int = 4096) -> SpeechVocabulary:
    """Version 1: one id above speech, which ends it, and a separate table for the start and task tokens."""
    return SpeechVocabulary(speech, speech + 1, speech, -1, marks_are_speech_rows=False, sos=0, task=1)


def vocabulary_v2(speech: int = 6561) -> SpeechVocabulary:
    """Version 2: three ids above speech and a separate table for the start and task tokens."""
    return SpeechVocabulary(speech, speech + 3, speech, speech + 2, marks_are_speech_rows=False, sos=0, task=1)


def vocabulary_v3(speech: int = 6561) -> SpeechVocabulary:
    """Version 3: two hundred ids above speech, the start and task tokens among them."""
    return SpeechVocabulary(
        speech, speech + 200, speech + 1, speech + 3, marks_are_speech_rows=True, sos=speech, task=speech + 2
    )
