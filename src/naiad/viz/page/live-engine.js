// The methods of the page: modules of WebAssembly that take steps. They go side by side, each from its own state.

const live = motion.live, GO_ON = 0n, AFRESH = 1n, AGAIN = 2n, AT_POINT = 3n, TOUCHED = 4n, ROOM = 500;

class Engine {
  constructor(about, program) {
    const array = (name) => program.outputs.get(name), own = (prefix) => [...program.outputs.keys()].filter((name) => name.startsWith(prefix));
    Object.assign(this, { name: about.name, symmetric: about.symmetric, failures: about.failures, program, table: new Table() });
    this.inputs = program.arguments;
    this.ended = array("end.outcome").view;
    this.node = array("end.node").view;
    this.kept = array("frames.count").view;
    this.nodes = array("frames.rows.node").view;
    this.crossed = array("points.count")?.view;
    this.points = array("points.rows")?.view;
    this.onward = program.link("end", "standing");
    const names = [...own("first.state.").map((name) => name.slice(6)), ...live.series.map(({ key }) => `outputs.${key}`)];
    this.columns = names.map((name) => ({ first: array(`first.${name}`).view, rows: array(`frames.rows.${name}`).view }));
    this.width = this.columns.reduce((sum, { first }) => sum + first.length, 1);
    this.drawn = Object.fromEntries(own("first.outputs.").map((name) => name.slice(14)).map((key) => [key, {
      first: array(`first.outputs.${key}`).view, rows: array(`frames.rows.outputs.${key}`).view,
    }]));
    this.places = own("end.").map((name) => this.inputs[name.replace("end", "standing")]);
  }

  // Where the run stands, to be taken up again.
  get standing() { return this.places.map((place) => place.slice()); }
  set standing(kept) { this.places.forEach((place, k) => place.set(kept[k])); }

  begin(how, t0, h, at) {
    this.inputs.t0[0] = t0;
    this.inputs.h[0] = h;
    this.inputs.at.set(at ?? [0, 0]);
    this.inputs.begin[0] = how;
    this.run(0, 1);
    this.held = this.copied();
    return this.columns.every(({ first }) => first.every(Number.isFinite));
  }

  // Steps, of which every so manyeth is kept; gives how many were.
  run(count, every) {
    this.inputs.count[0] = BigInt(count);
    this.inputs.every[0] = BigInt(every);
    this.program.compute();
    this.onward();
    this.inputs.begin[0] = GO_ON;
    this.outcome = Number(this.ended[0]);
    return Number(this.kept[0]);
  }

  // All numbers of a row (of the first one if there is no number), after its time.
  row(t, index) {
    const row = new Float64Array(this.width);
    row[0] = t;
    let at = 1;
    for (const { first, rows } of this.columns) {
      row.set(index === undefined ? first : rows.subarray(index * first.length, (index + 1) * first.length), at);
      at += first.length;
    }
    return row;
  }

  // A function that gives what is drawn of a row, by the name of the array.
  pose(index) {
    return (key) => {
      const { first, rows } = this.drawn[key];
      return rows.subarray(index * first.length, (index + 1) * first.length);
    };
  }

  // The same of the first row, or of one that is to be drawn again when others are in its place.
  copied(index) {
    const kept = Object.fromEntries(Object.entries(this.drawn).map(([key, { first }]) => [key, (index === undefined ? first : this.pose(index)(key)).slice()]));
    return (key) => kept[key];
  }
}

let engines = [];

// How far a row is from another, by their states, relative.
function apart(one, other, width) {
  let difference = 0, size = 0;
  for (let k = 1; k <= width; k++) { difference += (one[k] - other[k]) ** 2; size += other[k] ** 2; }
  return Math.sqrt(difference / (size || 1));
}
