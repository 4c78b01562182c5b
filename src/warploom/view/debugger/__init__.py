"""Commands of the debugger, for the console, for notebooks and for editors."""
