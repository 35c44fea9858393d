"""The pure core: no clock, no ids of its own, no environment, no input or output."""
