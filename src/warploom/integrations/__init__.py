"""Integrations with Triton, pytest and Dask."""
