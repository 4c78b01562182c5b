"""Native execution of instructions: their semantics, translated to machine code with llvmlite."""
