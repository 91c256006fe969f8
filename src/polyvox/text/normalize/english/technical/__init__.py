"""Names, addresses and formulas of programs, networks, laboratories and catalogues."""
