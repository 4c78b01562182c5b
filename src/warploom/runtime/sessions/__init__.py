"""Sequences of launches that share device memory: modules, arrays, streams, order and races."""
