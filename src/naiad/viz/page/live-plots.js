// Plots that grow beside the motion: errors of what is conserved, on a logarithmic scale, and outputs, over time.

const MARGIN = { left: 46, right: 8, top: 8, bottom: 18 }, LEAST = 1e-17, LOWEST = -16.9;
const units = (text) => text.replace(/\^(-?\d)/g, (_, power) => [...power].map((c) => SUPERSCRIPT[c]).join("")).replace(/\bdeg\b/g, "°");
const methodColour = (index) => css(colourOf(Math.max(0, bodies.findIndex((body) => body.method === index))));
const partColour = (index, count) => css(count === 3 ? theme.axes[index] : PALETTE[index % PALETTE.length]);

const plots = live.series.map((series) => {
  const figure = document.createElement("figure"), caption = document.createElement("figcaption"), canvas = document.createElement("canvas");
  const name = document.createElement("span");
  name.textContent = series.name + (series.unit ? ` [${units(series.unit)}]` : "");
  caption.append(name);
  figure.append(caption, canvas);
  element("plots").append(figure);
  return { ...series, caption, canvas, pen: canvas.getContext("2d"), at: 0 };
});

// Called when the methods are known.
function preparePlots() {
  let at = 1 + live.columns.length;
  plots.forEach((plot) => {
    plot.at = at;
    at += plot.parts.length;
    const many = engines.length > 1 ? engines.map(({ name }, k) => [name, methodColour(k)]) : plot.error || plot.parts.length === 1 ? [] : plot.parts.map((part, k) => [part, partColour(k, plot.parts.length)]);
    for (const [name, colour] of many.slice(0, 6)) {
      const item = document.createElement("span"), dot = document.createElement("i");
      dot.style.background = colour;
      item.append(dot, name);
      plot.caption.append(item);
    }
  });
}

// The energy errors now, beside the time.
const readouts = [];
function prepareReadout() {
  if (!plots[0].error) return;
  engines.forEach((_, k) => {
    const row = document.createElement("div"), words = document.createElement("dt"), value = document.createElement("dd"), key = document.createElement("i");
    key.className = "key";
    key.style.background = methodColour(k);
    words.append(...(engines.length > 1 ? [key] : []), "energy error");
    row.append(words, value);
    element("readout").append(row);
    readouts.push(value);
  });
}

function showErrors() {
  readouts.forEach((readout, k) => {
    const { last, rows: [start] } = engines[k].table, at = plots[0].at;
    readout.textContent = power(errorOf(last, start, [at], sizeOf(plots[0], start, [at])));
  });
}

// A number in few signs, for an axis.
// Two that are a step apart are told apart.
function brief(value, step) {
  if (Math.abs(value) < 1e-9 * step) return "0";
  const size = Math.abs(value), more = Math.max(0, Math.floor(Math.log10(size)) - Math.floor(Math.log10(step) + 1e-9));
  return (size >= 1e5 || size < 1e-3 ? String(Number(value.toPrecision(more + 1)).toExponential()).replace("e+", "e") : String(Number(value.toPrecision(Math.max(4, more + 1))))).replace(/-/g, "−");
}

function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw)), step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
  return Array.from({ length: 40 }, (_, k) => (Math.ceil(low / step) + k) * step).filter((value) => value <= high + 1e-9 * step);
}

const spacing = (values) => (values.length > 1 ? values[1] - values[0] : Math.abs(values[0]) || 1);

function curvesOf(plot) {
  return engines.flatMap((engine, method) => {
    const rows = engine.table.all, start = engine.table.rows[0];
    if (!start) return [];
    if (!plot.error) return plot.parts.map((_, k) => ({ colour: engines.length > 1 ? methodColour(method) : partColour(k, plot.parts.length), rows, value: (row) => row[plot.at + k] }));
    const indices = plot.parts.map((_, k) => plot.at + k), size = sizeOf(plot, start, indices);
    return [{ colour: methodColour(method), rows: rows.slice(1), value: (row) => Math.log10(Math.max(LEAST, errorOf(row, start, indices, size))) }];
  });
}

// What errors are divided by: the size at the start, or the scale where that is round-off of it.
function sizeOf({ scale = 0 }, start, indices) {
  const size = Math.hypot(...indices.map((k) => start[k]));
  return (size < 1e-13 * scale ? scale : size) || 1;
}

function errorOf(row, start, indices, size) {
  let sum = 0;
  for (const k of indices) sum += (row[k] - start[k]) ** 2;
  return Math.sqrt(sum) / size;
}

function sizedCanvas(canvas, pen) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [width, height];
}

function axes(pen, [width, height], [x0, x1, y0, y1], { log, labels, across = 4, margin = MARGIN }) {
  const px = (x) => margin.left + ((x - x0) / (x1 - x0)) * (width - margin.left - margin.right);
  const py = (y) => height - margin.bottom - ((y - y0) / (y1 - y0)) * (height - margin.top - margin.bottom);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, sans-serif";
  pen.lineWidth = 1;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  const levels = ticks(y0, y1, Math.max(2, height / 46)).filter((y) => !log || Number.isInteger(y));
  for (const y of levels) {
    pen.strokeStyle = css(theme.grid);
    pen.beginPath();
    pen.moveTo(margin.left, py(y));
    pen.lineTo(width - margin.right, py(y));
    pen.stroke();
    pen.fillStyle = css(theme.quiet);
    pen.fillText(log ? `10${[...String(y)].map((c) => SUPERSCRIPT[c]).join("")}` : brief(y, spacing(levels)), margin.left - 6, py(y));
  }
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  const marks = ticks(x0, x1, across);
  marks.forEach((x) => pen.fillText(brief(x, spacing(marks)), Math.min(width - 16, Math.max(margin.left + 4, px(x))), height - margin.bottom + 13));
  if (labels) {
    pen.textAlign = "right";
    pen.fillText(labels[0], width - margin.right, height - 3);
    pen.textAlign = "left";
    pen.fillText(labels[1], 4, 11);
  }
  return { px, py };
}

function drawPlot(plot) {
  const { canvas, pen } = plot, box = canvas.getBoundingClientRect();
  if (box.bottom < 0 || box.top > window.innerHeight) return;
  const size = sizedCanvas(canvas, pen), curves = curvesOf(plot);
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (const { rows, value } of curves)
    for (const row of rows) {
      const y = value(row);
      if (!Number.isFinite(y)) continue;
      if (row[0] < x0) x0 = row[0];
      if (row[0] > x1) x1 = row[0];
      if (plot.error && y < LOWEST) continue;
      if (y < y0) y0 = y;
      if (y > y1) y1 = y;
    }
  if (!(x1 >= x0)) { pen.clearRect(0, 0, ...size); return; }
  if (!(y1 >= y0)) [y0, y1] = [-17, -15];
  if (x1 === x0) x1 = x0 + 1;
  if (plot.error) { y0 = Math.max(Math.floor(y0), Math.ceil(y1) - 12); y1 = Math.max(Math.ceil(y1), y0 + 2); }
  else { const pad = 0.06 * (y1 - y0) || Math.abs(0.1 * y1) || 1; y0 -= pad; y1 += pad; }
  const { px, py } = axes(pen, size, [x0, x1, y0, y1], { log: plot.error });
  pen.lineWidth = 1.5;
  pen.lineJoin = "round";
  for (const { rows, value, colour } of curves) {
    pen.strokeStyle = colour;
    pen.beginPath();
    let down = false;
    for (const row of rows) {
      const y = Math.max(y0, value(row));
      if (!Number.isFinite(y)) { down = false; continue; }
      if (down) pen.lineTo(px(row[0]), py(y)); else pen.moveTo(px(row[0]), py(y));
      down = true;
    }
    pen.stroke();
  }
}

// One plot at a time, so that a frame stays short.
let turn = 0;
function drawPlots(all) {
  if (all) return plots.forEach(drawPlot);
  if (plots.length) drawPlot(plots[turn++ % plots.length]);
}
