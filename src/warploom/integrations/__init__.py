"""Warploom where people already are: under Triton's launches, and in pytest."""
