"""Execution of many independent tasks: executors, isolated processes and checkpoints."""
