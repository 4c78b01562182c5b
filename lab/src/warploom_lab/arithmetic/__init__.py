"""Comparison of the matrix arithmetic with MMA-Sim, a published model of the matrix units of NVIDIA's GPUs."""
