"""Observers of a launch: sanitizer, trace and profile. Each receives the events of the emulator."""
