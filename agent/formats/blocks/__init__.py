"""Messages whose content is a list of blocks, texts, calls and results among them, as several providers have them."""
