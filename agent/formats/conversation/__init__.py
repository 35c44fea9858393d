"""What every foreign format is read into, and written from: messages that nobody's wire format has bent yet."""
