"""Number formats and PTX arithmetic over arrays, bit for bit."""
