"""Vehicles under water."""
