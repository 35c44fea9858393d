"""What the edges share, HTTP and the command line, capture and recall: bytes to a document, and typed answers.

It knows errors and the core, and neither of the two sides.
"""
