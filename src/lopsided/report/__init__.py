"""Reports: one HTML file that needs nothing else, with real curves."""
