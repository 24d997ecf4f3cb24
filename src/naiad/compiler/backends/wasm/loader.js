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
        return [slot.name, { ...slot, view: new View(memory.buffer, slot.offset, slot.shape.reduce((n, m) => n * m, 1)) }];
      };
      this.compute = run;
      this.inputs = new Map(description.arguments.map(leaf));
      this.outputs = new Map(description.results.map(leaf));
      this.arguments = Object.fromEntries([...this.inputs].map(([name, { view }]) => [name, view]));
      this.results = {};
      for (const [name, slot] of this.outputs) grow(this.results, name.split("."), slot);
    }

    /** Sets arguments and computes; gives the results, by the names of their tree, or the one that has none. */
    run(given = {}) {
      this.set(given);
      this.compute();
      return this.outputs.has("") ? this.results[""] : this.results;
    }

    /** Sets arguments: a tree like that of the function's, a part of it, or leaves by their names ("body.J"). */
    set(given, name = "") {
      if (this.inputs.has(name)) write(this.inputs.get(name), given);
      else if (typeof given === "object" && given !== null)
        for (const key of Object.keys(given)) this.set(given[key], name ? `${name}.${key}` : key);
      else throw new Error(`no argument "${name}"; there are ${[...this.inputs.keys()].join(", ")}`);
    }

    /** A function that copies the results under one name to the arguments under another, for a run that goes on. */
    link(result, argument) {
      const names = [...this.inputs.keys()].filter((name) => `${name}.`.startsWith(`${argument}.`));
      const source = (name) => this.outputs.get((result + name.slice(argument.length)).replace(/^\./, ""))?.view;
      const pairs = names.map((name) => [this.inputs.get(name).view, source(name)]);
      if (!pairs.length || pairs.some(([to, from]) => from?.length !== to.length))
        throw new Error(`the results "${result}" are not like the arguments "${argument}"`);
      return () => pairs.forEach(([to, from]) => to.set(from));
    }
  }

  /** A leaf in the tree of results: an array is its view, a single number is read when it is asked for. */
  const grow = (tree, [key, ...rest], { shape, dtype, view }) => {
    const single = { enumerable: true, get: () => (dtype === "bool" ? view[0] !== 0n : Number(view[0])) };
    if (rest.length) grow((tree[key] ??= {}), rest, { shape, dtype, view });
    else Object.defineProperty(tree, key, shape.length ? { enumerable: true, value: view } : single);
  };

  const write = ({ name, dtype, shape, view, fixed = [] }, given) => {
    const wrong = (what, wanted) => { throw new Error(`${name}: ${what}; expected ${wanted}`); };
    const values = Array.isArray(given) ? given.flat(Infinity) : ArrayBuffer.isView(given) ? given : [given];
    if (values.length !== view.length) wrong(`${values.length} numbers`, `${view.length} (shape [${shape}])`);
    for (const [at, value] of fixed)
      if (values[at] != value) wrong(`element ${at} is ${values[at]}`, `${value}, which is part of the code`);
    const number = (value, at) => (typeof value === "number" ? value : wrong(`element ${at} is ${value}`, "a number"));
    const whole = (value, at) => {
      const fits = ["bigint", "boolean"].includes(typeof value) || Number.isInteger(value);
      const bits = fits && dtype === "bool" ? BigInt(value != 0) : fits && BigInt(value);
      if (!fits || (dtype === "int32" && BigInt.asIntN(32, bits) !== bits))
        wrong(`element ${at} is ${value}`, `a whole number${dtype === "int32" ? " of 32 bits" : ""}`);
      return bits;
    };
    view.set(values instanceof view.constructor ? values : Array.from(values, dtype === "float64" ? number : whole));
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
