"""Japanese: its words, counters and kana as phonemes."""
