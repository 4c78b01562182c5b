"""Running a kernel from Python or from a launch file. `api` has the call."""
