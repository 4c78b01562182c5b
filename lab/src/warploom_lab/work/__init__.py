"""Execution of many independent tasks: executors, isolated processes and checkpoints."""

from __future__ import annotations
