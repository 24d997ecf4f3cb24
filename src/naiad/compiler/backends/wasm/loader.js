// Runs modules that naiad makes (`naiad.compile(f).wasm(...)`), in a page and in Node:
//
//   const swing = await naiad.load(bytes, description);   // bytes may be base64
//   const end = swing.run({ theta: 0.5, steps: 1000 });   // what is not given stays as it is
//
// Arguments and results are trees of numbers, booleans and arrays (row by row). Results are views of the module's
// memory, made once: the next run changes them, and so does writing into `swing.arguments`, whose leaves are views too.
{
  const imports = { Math, naiad: { rem: (a, b) => a % b } };
  const decode = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  class Program {
    constructor({ memory, run }, description) {
      this.description = description;
      this.compute = run;
      const leaf = (slot) => {
        const View = slot.dtype === "float64" ? Float64Array : BigInt64Array;
        return { ...slot, view: new View(memory.buffer, slot.offset, slot.shape.reduce((n, m) => n * m, 1)) };
      };
      const leaves = (slots) => new Map(slots.map((slot) => [slot.name, leaf(slot)]));
      this.inputs = leaves(description.arguments);
      this.outputs = leaves(description.results);
      this.arguments = Object.fromEntries([...this.inputs].map(([name, { view }]) => [name, view]));
      this.results = {};
      for (const [name, slot] of this.outputs) grow(this.results, name.split("."), slot);
    }

    /** Sets arguments and computes; gives the results, by the names of their tree. */
    run(given = {}) {
      this.set(given);
      this.compute();
      return this.outputs.has("") ? this.results[""] : this.results;
    }

    /** Sets arguments: a tree like that of the function's, or part of it, or leaves by their names ("body.J"). */
    set(given, name = "") {
      if (this.inputs.has(name)) write(this.inputs.get(name), given);
      else if (typeof given !== "object" || given === null) throw new Error(this.unknown(name));
      else for (const key of Object.keys(given)) this.set(given[key], name ? `${name}.${key}` : key);
    }

    /** A function that copies the results under one name to the arguments under another, for the next run. */
    link(result, argument) {
      const pairs = [];
      for (const [name, to] of this.inputs) {
        const from = this.outputs.get((result + name.slice(argument.length)).replace(/^\./, ""));
        if (name === argument || name.startsWith(`${argument}.`)) pairs.push([to.view, from?.view]);
      }
      if (!pairs.length || pairs.some(([to, from]) => from?.length !== to.length))
        throw new Error(`the results "${result}" are not like the arguments "${argument}"`);
      return () => { for (const [to, from] of pairs) to.set(from); };
    }

    unknown(name) {
      return `no argument "${name}"; there are ${[...this.inputs.keys()].join(", ")}`;
    }
  }

  /** A leaf in the tree of results: an array is its view, a single number is read when it is asked for. */
  const grow = (tree, [key, ...rest], slot) => {
    if (rest.length) grow((tree[key] ??= {}), rest, slot);
    else if (slot.shape.length) tree[key] = slot.view;
    else Object.defineProperty(tree, key, { enumerable: true, get: () => single(slot) });
  };

  const single = ({ dtype, view }) => (dtype === "bool" ? view[0] !== 0n : Number(view[0]));

  const write = ({ name, dtype, shape, view, fixed = [] }, given) => {
    const wrong = (what, wanted) => { throw new Error(`${name}: ${what}; expected ${wanted}`); };
    const wanted = `${view.length} (shape ${JSON.stringify(shape)})`;
    if (given == null) wrong(given, wanted);
    const values = typeof given !== "object" ? [given] : Array.isArray(given) ? given.flat(Infinity) : given;
    if (values.length !== view.length) wrong(`${values.length} numbers`, wanted);
    for (const [at, value] of fixed)
      if (values[at] != value) wrong(`element ${at} is ${values[at]}`, `${value}, which is part of the code`);
    for (let at = 0; at < view.length; at++) {
      const value = values[at];
      if (dtype === "float64") {
        if (typeof value !== "number") wrong(`element ${at} is ${value}`, "a number");
        view[at] = value;
      } else {
        const whole = typeof value === "bigint" || typeof value === "boolean" || Number.isInteger(value);
        const fits = whole && (dtype !== "int32" || BigInt.asIntN(32, BigInt(value)) === BigInt(value));
        if (!fits) wrong(`element ${at} is ${value}`, `a whole number${dtype === "int32" ? " of 32 bits" : ""}`);
        view[at] = dtype === "bool" ? BigInt(value != 0) : BigInt(value);
      }
    }
  };

  globalThis.naiad = {
    /** A module, ready to run; it holds the arguments that it was made with. */
    async load(bytes, description) {
      const code = typeof bytes === "string" ? decode(bytes) : bytes;
      const { instance } = await WebAssembly.instantiate(code, imports);
      return new Program(instance.exports, description);
    },
  };
}
