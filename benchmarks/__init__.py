"""The figures that the project holds itself to, each paired in one run with the baseline it is named against.

``python -m benchmarks [NAME...] [--quick] [--out FILE]``. Figures, not tests: a missed bound is printed, not raised.
"""
