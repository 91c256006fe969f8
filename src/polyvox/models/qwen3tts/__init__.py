"""The networks of Qwen3-TTS (12 Hz): talker, code predictor, speaker encoder, and the speech tokenizer."""
