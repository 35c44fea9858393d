"""Who calls a function, at its own edge: keys, in a variable or in a file that may change, and a limit of requests."""
