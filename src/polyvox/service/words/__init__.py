"""Times of words: found while an utterance is spoken or in its audio afterwards, and the captions they make."""
