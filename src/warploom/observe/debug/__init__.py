"""Inspection of a stopped launch: instructions by line, registers, memory and conditions."""
