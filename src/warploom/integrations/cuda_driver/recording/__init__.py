"""`warploom capture`: calls of a CUDA program to NVIDIA's driver, and records of its launches."""
