"""Trial of `warploom capture` and `warploom replay` with CUDA programs."""
