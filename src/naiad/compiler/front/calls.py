"""Functions that call others, which are inlined."""

import functools
from typing import Any

import jax
from jax.extend import core

from naiad.compiler.front.arrays import Value
from naiad.compiler.front.rules import rule
from naiad.compiler.front.tracer import Tracer


@rule(
    "jit",
    "pjit",
    "closed_call",
    "eval_jaxpr",
    "core_call",
    "remat",
    "remat2",
    "checkpoint",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_vjp_call_jaxpr",
    reads="jaxpr call_jaxpr fun_jaxpr",
    ignores="""name inline keep_unused donated_invars in_shardings out_shardings in_layouts out_layouts ctx_mesh
        resource_env compiler_options_kvs prevent_cse differentiated policy num_consts symbolic_zeros jvp_jaxpr_fun
        jvp_jaxpr_thunk fwd_jaxpr_thunk bwd out_trees""",
)
def _call(tracer: Tracer, eqn: Any, *inputs: Value) -> list[Value]:
    inner = next(eqn.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in eqn.params)
    if isinstance(inner, core.ClosedJaxpr):
        return tracer.evaluate(inner.jaxpr, inner.consts, inputs)
    return tracer.evaluate(inner, (), inputs)


@rule("custom_linear_solve", "linear_solve", reads="const_lengths jaxprs")
def _linear_solve(tracer: Tracer, eqn: Any, *inputs: Value) -> list[Value]:
    lengths, solve = eqn.params["const_lengths"], eqn.params["jaxprs"].solve
    before = lengths.matvec + lengths.vecmat
    consts, right = inputs[before : before + lengths.solve], inputs[sum(lengths) :]
    return tracer.evaluate(solve.jaxpr, solve.consts, [*consts, *right])


@rule("call_hi_primitive", reads="_prim")
def _high_call(tracer: Tracer, eqn: Any, *inputs: Value) -> list[Value]:
    """An operation that says itself what it consists of: in JAX 0.12 functions with derivatives of their own."""
    forms = [jax.ShapeDtypeStruct(atom.aval.shape, atom.aval.dtype) for atom in eqn.invars]
    with jax.enable_x64(True):
        lower = jax.make_jaxpr(functools.partial(eqn.primitive.to_lojax, **eqn.params))(*forms)
    return tracer.evaluate(lower.jaxpr, lower.consts, inputs)
