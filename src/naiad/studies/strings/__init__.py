"""Strings and cranes."""
