"""Parts that engines share: lifecycle, threads, settings, checks, codec streams, chunks, seeds, captures, tuning."""
