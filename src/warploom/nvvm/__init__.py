"""The compiler path in the open: builtins, NVVM operations and intrinsics, packed words, down to PTX."""
