"""Modules of WebAssembly, for browsers and Node."""
