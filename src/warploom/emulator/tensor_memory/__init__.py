"""Tensor memory of the resident CTAs: storage, allocation, and the order and execution of its operations."""
