"""Generated files: reference pages, editor stubs, shell completions, pictures and notebook outputs."""
