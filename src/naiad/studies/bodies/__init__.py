"""Rigid bodies, tops, pendulums, spacecraft."""
