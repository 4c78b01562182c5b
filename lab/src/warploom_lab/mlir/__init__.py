"""MLIR asked: operations of its nvvm dialect, made from Forms, and what its tools make of them."""
