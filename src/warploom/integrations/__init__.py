"""Integrations with other tools: Triton, pytest and Dask."""
