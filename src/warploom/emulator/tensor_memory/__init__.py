"""Tensor memory of the resident CTAs: storage, allocation, order and execution of its operations."""
