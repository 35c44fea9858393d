"""The log of events and the turns in it: appended once, read back as sent."""
