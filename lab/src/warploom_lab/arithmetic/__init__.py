"""Comparison of the matrix arithmetic with MMA-Sim, a published model of NVIDIA's matrix units."""
