"""``import``: whole files of other programs' conversations, each captured, none stored twice."""
