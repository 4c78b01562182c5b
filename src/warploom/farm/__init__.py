"""Many machines: work that is independent, spread over the workers of a Dask cluster."""
