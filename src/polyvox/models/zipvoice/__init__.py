"""ZipVoice: Zipformer text encoder and flow-matching decoder, and the Vocos vocoder."""
