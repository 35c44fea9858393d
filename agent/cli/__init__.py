"""The command line ``memory-graph``: an edge like HTTP. It puts nothing together that bootstrap does not."""
