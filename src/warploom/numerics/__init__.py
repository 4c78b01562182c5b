"""Number formats and PTX arithmetic over arrays, with the bits of the GPU."""
