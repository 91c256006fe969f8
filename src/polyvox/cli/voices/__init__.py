"""`polyvox voices`: the commands on built-in, registered and fitted voices."""
