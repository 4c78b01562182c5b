"""Origins of results: a recorder of executions, a walk from a result to its sources, and causes of wrong results."""
