"""Whole functions of several compilers, and the PTX that llc generates for them."""
