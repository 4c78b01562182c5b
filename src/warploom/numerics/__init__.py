"""Number formats and arithmetic over arrays, bit for bit."""
