"""Mutants of compiled kernels: kernels with one inserted error, which the emulator or the sanitizer must find."""
