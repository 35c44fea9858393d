"""What an operator does to a database: verify, back up, restore."""
