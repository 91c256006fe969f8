"""Networks of Chatterbox: the voice encoder, T3 and S3Gen."""
