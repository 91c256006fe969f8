"""Judge an installed model by what it says, as `polyvox check` does: sentences, voices, a trial, criteria, a report."""
