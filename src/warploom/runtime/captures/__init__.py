"""Captured launches: their files, and their replay on the emulator or on a GPU."""
