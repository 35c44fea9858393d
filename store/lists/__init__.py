"""What sessions are found and listed by: labels and words, which follow the log."""
