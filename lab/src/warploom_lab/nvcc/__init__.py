"""Record of nvcc's answers to calls of builtins: instructions or error messages."""
