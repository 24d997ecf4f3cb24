"""Studies of optimal control and estimation."""
