"""What of a capture's content may stay (CONTRACT 8): all of it, all but secrets and identifiers of persons, or none."""
