"""Operations of MLIR's nvvm dialect, made from Forms, and the results of MLIR's tools for them."""
