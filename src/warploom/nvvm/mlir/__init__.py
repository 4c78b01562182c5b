"""MLIR text: its parser, the syntax of the llvm dialect, and the translation to LLVM IR."""
