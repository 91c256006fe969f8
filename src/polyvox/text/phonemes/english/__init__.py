"""English: words, their phonemes from dictionaries, rules and a network, and what the sentence decides."""
