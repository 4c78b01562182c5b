"""Execution of launches under the control of a debugger."""
