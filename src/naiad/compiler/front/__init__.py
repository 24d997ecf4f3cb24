"""From a jaxpr to a scalar program."""
