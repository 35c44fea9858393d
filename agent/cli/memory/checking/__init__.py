"""What says whether all is as it should be: ``health``, ``replay``, ``verify``."""
