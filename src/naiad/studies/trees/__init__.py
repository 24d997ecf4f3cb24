"""Connected bodies."""
