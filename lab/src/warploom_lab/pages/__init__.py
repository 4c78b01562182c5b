"""Generated files of the repository: pages, editor stubs, shell completions, pictures and notebooks."""
