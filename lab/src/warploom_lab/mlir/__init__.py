"""Results of MLIR's tools for operations of its nvvm dialect, which are generated from Forms."""
