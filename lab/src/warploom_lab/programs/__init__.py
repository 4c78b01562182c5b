"""Public CUDA programs: compilation with nvcc, runs on the emulator, and their findings."""
