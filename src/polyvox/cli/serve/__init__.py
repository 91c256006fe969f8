"""`polyvox serve`: the command, options that other servers spell otherwise, and models given as folders."""
