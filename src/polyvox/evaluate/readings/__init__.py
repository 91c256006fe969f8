"""Lists of written sentences with what a person would say, and the judges of what is said instead."""
