"""Bodies of space that the fluid couples: sheets of dipoles on their surfaces, and what they do to each other."""
