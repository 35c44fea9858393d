"""``memory-graph store``: runs the store's server, and looks after its database.

Of the command line only this package knows the store itself; everything else speaks to it over CONTRACT 10.
"""
