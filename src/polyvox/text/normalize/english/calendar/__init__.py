"""Days, dates, times of day and lengths of time."""
