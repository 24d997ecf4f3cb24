"""A digest of what things compute, known before they are traced: the key of the cache of compiled code.

A wrong hit would be a wrong result, so whatever cannot be followed to its end is refused, never guessed.

Code of the standard library and of installed distributions is identified by name and version, naiad's own by its
source files; the user's own is followed: bytecode, constants, defaults, closures, and every global that it names.
What cannot be seen here, and is the caller's to add or to avoid: settings of JAX, packages changed while they run, and
functions that are not pure.
"""

from typing import Any

from naiad.compiler.fingerprint import origins
from naiad.compiler.fingerprint.origins import Unfingerprintable, is_reachable
from naiad.compiler.fingerprint.walk import Walk

__all__ = ["Unfingerprintable", "fingerprint", "is_reachable"]

_FORMAT = "naiad fingerprint 2"


def fingerprint(*things: Any) -> str:
    """A SHA-256 digest, the same in every process, that changes whenever what the things compute changes.

    Arrays count by their values wherever they are: what a traced function reads is a constant of its code. Of an array
    that is an argument, give a `jax.ShapeDtypeStruct`.
    """
    walk = Walk()
    walk.write("format", _FORMAT, origins.PYTHON, origins.environment())
    try:
        for i, thing in enumerate(things):
            walk.visit(thing, f"argument {i}")
    except Unfingerprintable:
        raise
    except RecursionError as error:
        raise Unfingerprintable("too deeply nested to be fingerprinted; use fewer levels") from error
    except Exception as error:  # attributes of a user's objects may be code, and that may fail in any way
        raise Unfingerprintable(f"{walk.where()} cannot be fingerprinted: {type(error).__name__}: {error}") from error
    return walk.digest().hex()
