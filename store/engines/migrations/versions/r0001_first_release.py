"""The tables of release 0.1.0, which made them itself: nothing to run."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing: a database has these tables, or is made with later ones."""
