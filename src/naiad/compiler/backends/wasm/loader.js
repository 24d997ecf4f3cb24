// Runs modules that naiad makes (`naiad.compile(f).wasm(...)`), in a page and in Node:
//
//   const swing = await naiad.load(bytes, description); // the bytes may be text in base64
//   const end = swing.run({ theta: 0.5, steps: 1000 }); // what is not given stays as it is
//
// Arguments and results are trees of numbers, booleans and arrays, row by row. Results are views of the module's memory,
// made once: the next run changes them. `swing.arguments` has such views of the arguments, by name.
{
  class Program {
    constructor({ memory, run }, description) {
      const leaf = (slot) => {
        const View = slot.dtype === "float64" ? Float64Array : BigInt64Array;
        return [slot.name, { ...slot, view: new View(memory.buffer, slot.offset, size(slot.shape)) }];
      };
      this.compute = run;
      this.inputs = new Map(description.arguments.map(leaf));
      this.outputs = new Map(description.results.map(leaf));
      this.arguments = Object.fromEntries([...this.inputs].map(([name, { view }]) => [name, view]));
      this.results = Object.create(null); // in which any name is free
      for (const [name, slot] of this.outputs) grow(this.results, name.split("."), slot);
    }

    /** Sets arguments and computes; gives the results, by the names of their tree, or the one that has none. */
    run(given = {}) {
      this.set(given);
      this.compute();
      return this.outputs.has("") ? this.results[""] : this.results;
    }

    /** Sets arguments: a tree like that of the function's, a part of it, or leaves by their names ("body.J"). */
    set(given) {
      for (const [{ view }, values] of this.meant(given, "")) view.set(values);
    }

    /** The arguments that are meant, with their numbers, if all of these are sound. */
    meant(given, name) {
      if (this.inputs.has(name)) return [[this.inputs.get(name), sound(this.inputs.get(name), given)]];
      const names = [...this.inputs.keys()];
      if (typeof given !== "object" || !given || (name && !names.some((each) => each.startsWith(`${name}.`))))
        throw new Error(`no argument "${name}"; there are ${names.join(", ")}`);
      return Object.keys(given).flatMap((key) => this.meant(given[key], name ? `${name}.${key}` : key));
    }

    /** A function that copies the results under one name to the arguments under another, for a run that goes on. */
    link(result, argument) {
      const names = [...this.inputs.keys()].filter((name) => `${name}.`.startsWith(`${argument}.`));
      const source = (name) => this.outputs.get((result + name.slice(argument.length)).replace(/^\./, ""));
      const pairs = names.map((name) => [this.inputs.get(name), source(name)]);
      const alike = (a, b) => a?.view.length === b.view.length && a.view.constructor === b.view.constructor;
      if (!pairs.length || !pairs.every(([to, from]) => alike(from, to)))
        throw new Error(`the results "${result}" are not like the arguments "${argument}"`);
      return () => pairs.forEach(([to, from]) => to.view.set(sound(to, from.view)));
    }
  }

  /** A leaf in the tree of results: an array is its view, a single number is read when it is asked for. */
  const grow = (tree, [key, ...rest], { shape, dtype, view }) => {
    const single = { enumerable: true, get: () => (dtype === "bool" ? view[0] !== 0n : Number(view[0])) };
    if (rest.length) grow((tree[key] ??= Object.create(null)), rest, { shape, dtype, view });
    else Object.defineProperty(tree, key, shape.length ? { enumerable: true, value: view } : single);
  };

  const size = (shape) => shape.reduce((n, m) => n * m, 1);
  const isRow = (given) => Array.isArray(given) || (ArrayBuffer.isView(given) && !(given instanceof DataView));

  /** The numbers of an array, row by row. */
  const flat = (given) => {
    if (!isRow(given)) return [given];
    return given.some(isRow) ? given.flatMap((row) => Array.from(flat(row))) : given;
  };

  /** Whether rows lie in rows as a shape says; all may lie in one. */
  const fits = (given, [count, ...inner]) =>
    !isRow(given) || !given.some(isRow) ||
    (given.length === count && given.every((row) => flat(row).length === size(inner) && fits(row, inner)));

  /** Numbers as the memory has them, of what an argument is given. */
  const sound = ({ name, dtype, shape, view, fixed = [] }, given) => {
    const wrong = (what, wanted) => { throw new Error(`${name}: ${what}; expected ${wanted}`); };
    const values = flat(given), bits = dtype === "int32" ? 32 : 64;
    if (values.length !== view.length) wrong(`${values.length} numbers`, `${view.length} (shape [${shape}])`);
    if (!fits(given, shape)) wrong("rows of other lengths", `shape [${shape}]`);
    for (const [at, value] of fixed)
      if (values[at] != value) wrong(`element ${at} is ${values[at]}`, `${value}, which is part of the code`);
    const number = (value, at) => (typeof value === "number" ? value : wrong(`element ${at} is ${value}`, "a number"));
    const whole = (value, at) => {
      const exact = ["bigint", "boolean"].includes(typeof value) || Number.isInteger(value) ? BigInt(value) : null;
      if (exact === null || BigInt.asIntN(bits, exact) !== exact)
        wrong(`element ${at} is ${value}`, `a whole number of ${bits} bits`);
      return dtype === "bool" ? BigInt(value != 0) : exact;
    };
    const ready = values instanceof view.constructor && ["float64", "int64"].includes(dtype);
    return ready ? values : Array.from(values, dtype === "float64" ? number : whole);
  };

  globalThis.naiad = {
    /** A module, ready to run, with the arguments that it was made with. */
    async load(bytes, description) {
      const code = typeof bytes === "string" ? Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)) : bytes;
      const { instance } = await WebAssembly.instantiate(code, { Math, naiad: { rem: (a, b) => a % b } });
      return new Program(instance.exports, description);
    },
  };
}
