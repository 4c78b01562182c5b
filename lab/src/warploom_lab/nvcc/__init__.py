"""Instructions and error messages of nvcc for calls of builtins, and the record of these answers."""
