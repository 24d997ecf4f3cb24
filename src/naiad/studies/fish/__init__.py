"""Swimmers."""
