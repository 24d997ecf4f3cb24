"""Modules of WebAssembly from outside: what they say of themselves, the loader in the engines that are found here (Node
comes with the tests), what is refused, and the binary format."""

import base64
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import wasmtime
from jax import lax

import naiad as nd
from benchmarks.javascript import engines
from naiad.compiler.backends.wasm import binary, printer
from naiad.compiler.ir.operations import ELEMENTARY
from naiad.errors import InputError
from naiad.simulation import loop
from naiad.simulation.plan import Cadence, Routine
from tests.compiler.compare import ulps
from tests.verification.problems import PROBLEMS

ENGINES = engines()


def swing(theta, omega, h, steps):
    """A pendulum after a number of symplectic Euler steps."""

    def step(i, x):
        omega = x[1] - h * jnp.sin(x[0])
        return x[0] + h * omega, omega

    return lax.fori_loop(0, steps, step, (theta, omega))


def run(engine: str, module, script: str):
    """What a script gives that knows the module as `loaded`."""
    whole = f"""{module.script("made")}
    made.then((loaded) => {{ {script} }}).catch((error) => report(JSON.stringify("" + error)));"""
    return json.loads(ENGINES[engine](whole))


def test_the_description_says_where_everything_lies():
    def function(body, x, flags, n=2):
        return {"sum": x.sum() * body.J[0, 0], "more": (flags, n)}

    body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
    module = nd.compile(function).wasm(body, np.ones((2, 3)), np.array([True, False]), np.int32(7))
    named = [(each["name"], each["shape"], each["dtype"], each["offset"]) for each in module.description["arguments"]]
    assert named == [
        ("body.J", [3, 3], "float64", 0),
        ("x", [2, 3], "float64", 72),
        ("flags", [2], "bool", 120),
        ("n", [], "int32", 136),
    ]
    named = [(each["name"], each["shape"], each["dtype"], each["offset"]) for each in module.description["results"]]
    assert named == [
        ("more.0", [2], "bool", 144),
        ("more.1", [], "int32", 160),
        ("sum", [], "float64", 168),
    ]
    assert json.loads(json.dumps(module.description)) == module.description


def test_elements_that_are_part_of_the_code_are_told():
    module = nd.compile(lambda A, x: A @ x, parameters=(0,)).wasm(np.diag([1.0, 2.0]), np.ones(2))
    assert module.description["arguments"][0]["fixed"] == [[0, 1], [1, 0], [2, 0]]
    assert "fixed" not in module.description["arguments"][1]
    large = np.stack([np.arange(40.0), np.zeros(40)], axis=1)  # of which only a column is 0 in every row
    module = nd.compile(lambda A, x: A @ x, parameters=(0,)).wasm(large, np.ones(2))
    assert module.description["arguments"][0]["fixed"] == [[2 * k + 1, 0] for k in range(40)]


def test_a_module_has_no_imports_but_what_it_calls():
    module = nd.compile(lambda x, y: jnp.sin(x) + jnp.exp2(y) ** x).wasm(0.1, 0.2)
    found = wasmtime.Module(wasmtime.Engine(), module.bytes)
    assert [(each.module, each.name) for each in found.imports] == [("Math", "pow"), ("Math", "sin")]
    assert [each.name for each in found.exports] == ["memory", "run"]
    assert found.exports[0].type.limits == wasmtime.Limits(1, 1)


def test_files(tmp_path):
    module = nd.compile(swing).wasm(0.5, 0.0, 0.01, 1000)
    module.save(tmp_path / "swing.wasm")
    assert (tmp_path / "swing.wasm").read_bytes() == module.bytes
    assert json.loads((tmp_path / "swing.json").read_text()) == module.description
    assert (tmp_path / "naiad.js").read_text() in module.script("x")
    assert repr(module) == f"WasmModule({len(module.bytes)} bytes; theta, omega, h, steps)"
    for path in ("swing", tmp_path / "nowhere" / "swing.wasm"):
        with pytest.raises(InputError, match=r"expected NAME\.wasm in a folder that exists"):
            module.save(path)
    for name in ("a-b", "class", "naiad"):
        with pytest.raises(InputError, match=f"name = '{name}'; expected the name of a variable"):
            module.script(name)


def test_a_module_that_cannot_be_described_is_not_left_behind(tmp_path):
    (tmp_path / "swing.json").mkdir()
    with pytest.raises(InputError, match=r"swing\.json is a folder"):
        nd.compile(swing).wasm(0.5, 0.0, 0.01, 1000).save(tmp_path / "swing.wasm")
    assert [each.name for each in tmp_path.iterdir()] == ["swing.json"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_function_runs_with_what_it_was_made_with_and_with_other_arguments(engine):
    compiled = nd.compile(swing, fma=False)
    found = run(
        engine,
        compiled.wasm(0.5, 0.0, 0.01, 1000),
        """
        const first = { ...loaded.run() }, results = loaded.run({ theta: 0.1, steps: 50 });
        const second = [results[0], results[1]];
        loaded.arguments.theta[0] = 0.2;
        loaded.run();
        report(JSON.stringify([[first[0], first[1]], second, [results[0], results[1]]]));""",
    )
    wants = compiled(0.5, 0.0, 0.01, 1000), compiled(0.1, 0.0, 0.01, 50), compiled(0.2, 0.0, 0.01, 50)
    np.testing.assert_allclose(found, wants, rtol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_trees_of_all_types_go_in_and_come_out(engine):
    def function(tree, n, flag):
        large = jnp.arange(40.0) * tree["a"][0]
        return {
            "float": large,
            "whole": (n * 3, n[0] - 2**53),
            "truth": (flag, ~flag[0]),
            "short": jnp.int32(n[1]) + jnp.int32(2**31 - 1),
        }

    args = {"a": (0.5, np.ones((2, 2)))}, np.array([2**53, 7]), np.array([True, False])
    module = nd.compile(function, cache=False).wasm(*args)
    found = run(
        engine,
        module,
        """
        const r = loaded.run({ tree: { a: [0.25, [[1, 2], [3, 4]]] }, n: [2n ** 53n + 1n, 5], flag: [false, true] });
        const whole = [[...r.whole[0]].map(String), r.whole[1]];
        report(JSON.stringify([[...r.float], whole, [[...r.truth[0]].map(String), r.truth[1]], r.short,
                               [...loaded.arguments["tree.a.1"]]]));""",
    )
    assert found[0] == (np.arange(40.0) * 0.25).tolist()
    assert found[1] == [[str(3 * 2**53 + 3), "15"], 1]
    assert found[2] == [["0", "1"], True]
    assert found[3] == 2**31 - 1 + 5 - 2**32
    assert found[4] == [1, 2, 3, 4]


@pytest.mark.parametrize("engine", ENGINES)
def test_one_array_is_a_result_by_itself(engine):
    module = nd.compile(lambda x: 2.0 * x).wasm(np.arange(3.0))
    assert run(engine, module, "report(JSON.stringify([...loaded.run({ x: [1, 2, 3] })]))") == [2, 4, 6]


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_goes_in_or_comes_out(engine):
    for function, args, script, want in (
        (lambda: jnp.ones(3), (), "[...loaded.run()]", [1, 1, 1]),
        (lambda x: (), (1.0,), "Object.keys(loaded.run({ x: 2 }))", []),
        (lambda x: (x, x.sum()), (np.ones((0, 3)),), "[loaded.run({ x: [] })[0].length, loaded.results[1]]", [0, 0]),
    ):
        assert run(engine, nd.compile(function).wasm(*args), f"report(JSON.stringify({script}))") == want


@pytest.mark.parametrize("engine", ENGINES)
def test_the_largest_of_sizes_is_no_number_if_one_of_them_is_not(engine):
    """Also of the smallest of others, for which engines make not-a-numbers with a sign."""
    module = nd.compile(lambda x, y: jnp.maximum(jnp.minimum(jnp.abs(x), jnp.abs(y)), 3.0)).wasm(1.0, 2.0)
    tried = "[[5, -4], [NaN, 4], [5, NaN], [NaN, NaN], [-2, 7]].map(([x, y]) => String(loaded.run({ x, y })))"
    assert run(engine, module, f"report(JSON.stringify({tried}))") == ["4", "NaN", "NaN", "NaN", "3"]


BAD = {
    "{ speed: 1 }": 'no argument "speed"; there are A, n, k',
    "{ n: 1.5 }": "n: element 0 is 1.5; expected a whole number of 32 bits",
    "{ n: 3e9 }": "n: element 0 is 3000000000; expected a whole number of 32 bits",
    "{ n: [1, 2] }": "n: 2 numbers; expected 1 (shape [])",
    "{ A: [[1, 0], [0]] }": "A: 3 numbers; expected 4 (shape [2,2])",
    "{ A: [[1, 5], [0, 2]] }": "A: element 1 is 5; expected 0, which is part of the code",
    "{ A: [[1, 0], [0, '2']] }": "A: element 3 is 2; expected a number",
    "{ A: undefined }": "A: 1 numbers; expected 4 (shape [2,2])",
    "{ n: null }": "n: element 0 is null; expected a whole number of 32 bits",
    "{ n: 2n ** 31n }": "n: element 0 is 2147483648; expected a whole number of 32 bits",
    "{ n: new BigInt64Array([2n ** 40n]) }": "n: element 0 is 1099511627776; expected a whole number of 32 bits",
    "{ n: [[5]] }": "n: rows of other lengths; expected shape []",
    "{ k: 1e30 }": "k: element 0 is 1e+30; expected a whole number of 64 bits",
    "{ k: 2n ** 63n }": "k: element 0 is 9223372036854775808; expected a whole number of 64 bits",
    "{ k: new BigUint64Array([2n ** 63n]) }": "k: element 0 is 9223372036854775808; expected a whole number of 64 bits",
    "{ k: NaN }": "k: element 0 is NaN; expected a whole number of 64 bits",
    "{ A: [[1], [0, 0, 2]] }": "A: rows of other lengths; expected shape [2,2]",
    "{ A: [[1, 0, 0, 2]] }": "A: rows of other lengths; expected shape [2,2]",
    "{ A: [[[1, 0]], [0, 2]] }": "A: rows of other lengths; expected shape [2,2]",
    "{ A: [1n, 0n, 0n, 2n] }": "A: element 0 is 1; expected a number",
    "{ A: new DataView(new ArrayBuffer(32)) }": "A: 1 numbers; expected 4 (shape [2,2])",
    "{ n: 7, speed: {} }": 'no argument "speed"; there are A, n, k',
    "5": 'no argument ""; there are A, n, k',
}


@pytest.mark.parametrize("engine", ENGINES)
def test_bad_arguments_are_refused(engine):
    module = nd.compile(lambda A, n, k: (A * n, k), parameters=(0,)).wasm(np.diag([1.0, 2.0]), np.int32(3), 4)
    tried = "".join(f"try {{ loaded.run({given}); }} catch (error) {{ said.push(error.message); }}" for given in BAD)
    found = run(engine, module, f"const said = []; {tried} report(JSON.stringify([said, [...loaded.run()[0]]]))")
    assert found == [list(BAD.values()), [3, 0, 0, 6]]  # none of what was given with it was set


GOOD = {
    "[[1, 2, 3], [4, 5, 6]]": [1, 2, 3, 4, 5, 6],
    "[6, 5, 4, 3, 2, 1]": [6, 5, 4, 3, 2, 1],
    "[new Float64Array([1, 2, 3]), [4, 5, 6]]": [1, 2, 3, 4, 5, 6],
    "new Float32Array([1, 2, 3, 4, 5, 0.5])": [1, 2, 3, 4, 5, 0.5],
    "new Int8Array([1, -2, 3, 4, 5, 6])": [1, -2, 3, 4, 5, 6],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_arrays_of_many_kinds_are_taken(engine):
    module = nd.compile(lambda x, flag: (x, flag)).wasm(np.zeros((2, 3)), False)
    tried = ", ".join(f"[...loaded.run({{ x: {given} }})[0]]" for given in GOOD)
    assert run(engine, module, f"report(JSON.stringify([{tried}]))") == list(GOOD.values())
    flags = (
        "[true, 0, 1n, new BigInt64Array([5n])].map((flag) => [loaded.run({ flag })[1], String(loaded.arguments.flag)])"
    )
    assert run(engine, module, f"report(JSON.stringify({flags}))") == [
        [True, "1"],
        [False, "0"],
        [True, "1"],
        [True, "1"],
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_results_have_any_names(engine):
    def function(x):
        return {"constructor": {"toString": x + 1.0}, "__proto__": {"</script><!--<script>": x + 2.0}}

    module = nd.compile(function).wasm(1.0)
    script = "const r = loaded.run(); report(JSON.stringify([r, typeof {}.toString, Object.keys(Object.prototype)]))"
    found = run(engine, module, script)
    assert found == [function(1.0), "function", []]


@pytest.mark.parametrize("engine", ENGINES)
def test_modules_do_not_know_of_each_other(engine):
    made = nd.compile(lambda x: x + 1.0).wasm(1.0)
    code, description = base64.b64encode(made.bytes).decode(), json.dumps(made.description)
    script = f"""Promise.all([1, 2].map(() => naiad.load("{code}", {description}))).then((two) => {{
        const found = two.map((one, x) => one.run({{ x }}));
        report(JSON.stringify([...found, two[0].run(), loaded.run()]));
    }});"""
    assert run(engine, made, script) == [1, 2, 1, 2]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_linked_is_as_sound_as_what_is_given(engine):
    def function(A, n):
        return {"A": 2.0 * A, "n": n.astype(int) + 2**31}

    module = nd.compile(function, parameters=(0,)).wasm(np.diag([1.0, 2.0]), np.int32(1))
    script = """const said = []; loaded.run();
        for (const name of ["A", "n"]) try { loaded.link(name, name)(); } catch (error) { said.push(error.message); }
        report(JSON.stringify(said));"""
    assert run(engine, module, script) == [
        "A: element 0 is 2; expected 1, which is part of the code",
        "n: element 0 is 2147483649; expected a whole number of 32 bits",
    ]
    assert "are not like" in run(engine, module, 'loaded.link("n", "A")')


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_goes_on_chunk_by_chunk(engine):
    """The loop of `simulate`: what a chunk ends with is what the next one begins with."""
    top = PROBLEMS["heavy-top"]
    routine = Routine(top.system, nd.Variational(), {}, {}, {}, room=64)
    compiled = nd.compile(loop.advance, parameters=(0,), fma=False)
    standing, *_ = nd.compile(loop.start, parameters=(0,))(routine, top.state, 0.0, 0.01)
    module = compiled.wasm(routine, standing, 0.0, 0.01, 40, -1, Cadence(10), None)
    found = run(
        engine,
        module,
        """
        const onward = loaded.link("0", "standing"), results = loaded.run(), saved = [...results[1].frames.rows.node];
        for (const stop of [80, 120]) { onward(); loaded.run({ stop }); }
        const { node, outcome, carry } = results[0];
        report(JSON.stringify([node, outcome, [...carry.state.mu], [...carry.state.g], saved.slice(0, 4).map(Number)]));
        """,
    )
    want, _ = compiled(routine, standing, 0.0, 0.01, 120, -1, Cadence(10), None)
    assert found[:2] == [120, 0]
    np.testing.assert_allclose(found[2], want.carry.state.mu, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found[3], want.carry.state.g.reshape(-1), rtol=0, atol=1e-14)
    assert found[4] == [10, 20, 30, 40]
    assert "are not like" in run(engine, module, 'loaded.link("1", "standing")')


def test_the_functions_of_an_engine_are_within_two_units_of_the_last_place():
    """Of JavaScript's `Math` and the C library's; the remainder is exact, and powers have C's special values."""
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [rng.uniform(-1, 1, 60), rng.normal(size=60) * 10, [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1]]
    )
    y = np.roll(x, 7)

    def function(x, y):
        return {name: getattr(lax, name)(x) for name in sorted(ELEMENTARY)} | {
            "atan2": lax.atan2(x, y),
            "pow": x**y,
            "rem": lax.rem(x, y),
        }

    compiled = nd.compile(function, fma=False)
    want, module = compiled(x, y), compiled.wasm(x, y)
    for engine in ENGINES:
        bits = run(
            engine,
            module,
            """const found = loaded.run(), bits = {};
            const read = (values) => [...new BigInt64Array(new Float64Array(values).buffer)].map(String);
            for (const name in found) bits[name] = read(found[name]);
            report(JSON.stringify(bits));""",
        )
        for name, values in want.items():
            got = np.array([int(each) for each in bits[name]], np.int64).view(np.float64)
            assert ulps(got, values) <= (0 if name == "rem" else 2), (engine, name)


def test_a_program_that_is_too_large_is_refused_with_its_line(monkeypatch):
    def large(x):
        return lax.fori_loop(0, 3, lambda i, a: a.at[i].add(1.0), jnp.zeros(2**29) + x)

    line = large.__code__.co_firstlineno
    with pytest.raises(
        InputError, match=rf"large \(.*test_wasm_module.py:{line}\) .*takes 1\d,\d+,\d+,\d+ bytes of memory"
    ):
        nd.compile(large, cache=False).wasm(1.0)
    monkeypatch.setattr(printer, "LARGEST_FUNCTION", 20)
    with pytest.raises(InputError, match=r"swing \(.*\) cannot be a module of WebAssembly: a function of it takes \d+"):
        nd.compile(swing).wasm(0.5, 0.0, 0.01, 1000)


def test_what_cannot_be_compiled_is_named_with_its_line():
    with pytest.raises(nd.compiler.Unsupported, match=r"sort cannot be compiled \(.*test_wasm_module.py:\d+"):
        nd.compile(lambda x: jnp.sort(x)).wasm(np.ones(3))


def test_two_arrays_of_one_name_are_refused():
    with pytest.raises(InputError, match=r"'x\.a\.b' is the name of more than one array"):
        nd.compile(lambda x: x["a.b"]).wasm({"a.b": 1.0, "a": {"b": 2.0}})
    with pytest.raises(InputError, match=r"'a' is an array, and on the way to 'a\.b'"):
        nd.compile(lambda x: {"a": x, "a.b": 2.0 * x}).wasm(1.0)
    with pytest.raises(InputError, match=r"'' is an array, and on the way to 'a'"):
        nd.compile(lambda x: {"": x, "a": 2.0 * x}).wasm(1.0)


def test_arguments_have_the_names_of_the_function_or_numbers():
    def named(function):
        return [each["name"] for each in nd.compile(function).wasm(np.ones(2), 1.0).description["arguments"]]

    assert named(jax.jit(lambda x, y: x + y)) == ["x", "y"]
    assert named(lambda x, *more: x + more[0]) == ["x", "1"]


@pytest.mark.parametrize(
    ("value", "plain", "with_sign"),
    [
        (0, "00", "00"),
        (63, "3f", "3f"),
        (64, "40", "c000"),
        (127, "7f", "ff00"),
        (128, "8001", "8001"),
        (624485, "e58e26", "e58e26"),
        (2**63 - 1, "ffffffffffffffff7f", "ffffffffffffffffff00"),
    ],
)
def test_numbers_of_seven_bits_a_byte(value, plain, with_sign):
    assert binary.unsigned(value).hex() == plain
    assert binary.signed(value).hex() == with_sign


@pytest.mark.parametrize(
    ("value", "text"), [(-1, "7f"), (-64, "40"), (-65, "bf7f"), (-123456, "c0bb78"), (-(2**63), "8080808080808080807f")]
)
def test_numbers_below_zero(value, text):
    assert binary.signed(value).hex() == text


IMMEDIATE = {
    **{"i32.const": (" -1", "7f"), "i64.const": (" -1", "7f"), "f64.const": (" 1", "000000000000f03f")},
    **{"br": (" 0", "00"), "br_if": (" 0", "00"), "call": (" 0", "00")},
    **{f"local.{verb}": (" 0", "00") for verb in ("get", "set", "tee")},
    **{f"{type}.{verb}": (" offset=300", "03ac02") for type in ("i64", "f64") for verb in ("load", "store")},
}


@pytest.mark.parametrize("name", sorted(set(binary.INSTRUCTIONS) - {"block", "loop", "if", "else", "end"}))
def test_instructions_are_those_of_the_text_format(name):
    text, immediate = IMMEDIATE.get(name, ("", ""))
    assembled = wasmtime.wat2wasm(f"(module (memory 1) (func (param f64) unreachable {name}{text} unreachable))")
    assert assembled.endswith(b"\0" + binary.INSTRUCTIONS[name] + bytes.fromhex(immediate) + b"\0\x0b")
