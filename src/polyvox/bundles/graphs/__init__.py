"""Networks that are published as bare weights: the graphs around them, built when a bundle is installed."""
