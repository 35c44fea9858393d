"""What somebody who means harm sends, to the real servers: each attack, and a caller beside it who must not notice."""
