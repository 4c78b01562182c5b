"""Results of MLIR's tools for generated operations of its nvvm dialect."""
