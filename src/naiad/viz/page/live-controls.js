// Sliders, and the parameters in the address: #mgl=4&Omega0=0,0.3,8&dt=0.005.

const MODES = { start: "compute again from the start", on: "go on from here" };
let mode = "start", h = live.dt.value[0];
const values = live.sliders.map(({ value }) => [...value]);
const texts = []; // functions that show the numbers as they are

// The symbols of names: Omega0 is Ω₀.
const GREEK = { alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", theta: "θ", kappa: "κ", mu: "μ", nu: "ν", xi: "ξ", rho: "ρ", tau: "τ", omega: "ω", Pi: "Π", Omega: "Ω" };
const symbols = (name) => name.replace(/[A-Za-z]+/g, (word) => GREEK[word] ?? word).replace(/(?<=^\p{L}+)\d+$/u, (number) => [...number].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join(""));

const digits = (value) => String(Number(value.toPrecision(6))).replace(/-/g, "−");

// The number of a control: three digits, more where its range has more to tell apart; what is round-off of it is zero.
function shortened({ low, high, log }, value) {
  const span = high - low;
  if (Math.abs(value) < 1e-12 * span) return "0";
  const places = Math.max(2 - Math.floor(Math.log10(Math.abs(value))), log ? 0 : Math.ceil(3 - Math.log10(span)), 0);
  return String(Number(value.toFixed(Math.min(places, 100)))).replace(/-/g, "−");
}

// A control with a slider for each of its numbers.
function buildControl(about, numbers) {
  const single = numbers.length === 1, home = document.createElement("div");
  if (!single) {
    home.className = "group";
    const name = document.createElement("div"), unit = document.createElement("span"), parts = document.createElement("div");
    name.className = "name";
    unit.className = "unit";
    parts.className = "parts";
    name.append(worded(about));
    unit.textContent = units(about.unit);
    name.append(unit);
    home.append(name, parts);
    numbers.forEach((_, k) => parts.append(buildSlider(about, numbers, k, false)));
  } else home.append(buildSlider(about, numbers, 0, true));
  element("controls").append(home);
}

// A name, and what it means.
function worded(about) {
  const home = document.createElement("span"), help = document.createElement("small");
  home.textContent = symbols(about.label);
  help.textContent = about.help === about.label ? "" : about.help;
  home.title = about.help;
  home.append(help);
  return home;
}

function buildSlider(about, numbers, k, labelled) {
  const box = document.createElement("div"), range = document.createElement("input"), text = document.createElement("input");
  const { low, high, log } = about, span = high - low;
  const toPart = (value) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / span);
  const toValue = (part) => (log ? Number((low * (high / low) ** part).toPrecision(3)) : rounded(low + part * span, span));
  const name = about.label + (about.parts[k] ?? "");
  box.className = "control";
  Object.assign(range, { type: "range", min: 0, max: 1, step: "any" });
  Object.assign(text, { type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false });
  range.setAttribute("aria-label", name);
  text.setAttribute("aria-label", `${name} as a number`);
  if (labelled) {
    const label = document.createElement("label"), value = document.createElement("span"), unit = document.createElement("span");
    label.append(worded(about));
    unit.className = "unit";
    unit.textContent = units(about.unit);
    value.append(text, unit);
    box.append(label, value);
  } else box.append(text);
  box.append(range);
  const set = (value) => { numbers[k] = Math.min(high, Math.max(low, value)); changed(about); };
  range.addEventListener("input", () => set(toValue(Number(range.value))));
  text.addEventListener("change", () => {
    const value = Number(text.value.trim().replace("−", "-"));
    if (text.value.trim() && Number.isFinite(value)) set(value); else showNumbers();
  });
  texts.push(() => {
    if (document.activeElement !== text) text.value = shortened(about, numbers[k]);
    range.value = toPart(numbers[k]);
    range.setAttribute("aria-valuetext", `${shortened(about, numbers[k])} ${about.unit}`);
  });
  return box;
}

// A step of the slider: a round number, about a thousandth of the range.
function rounded(value, span) {
  const step = 10 ** Math.floor(Math.log10(span / 200));
  return Number((Math.round(value / step) * step).toPrecision(12));
}

function buildModes() {
  const home = document.createElement("div");
  home.className = "choice";
  home.append("A slider that moves:");
  for (const [key, words] of Object.entries(MODES)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.setAttribute("aria-pressed", String(key === mode));
    button.addEventListener("click", () => {
      mode = key;
      home.querySelectorAll("button").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
    });
    home.append(button);
  }
  element("controls").append(home);
}

const step0 = [h];
const everything = () => [...live.sliders.map((about, k) => [about, values[k]]), [live.dt, step0]];

function showNumbers() {
  texts.forEach((show) => show());
  const words = everything().map(([about, numbers]) => {
    const parts = numbers.map((value) => shortened(about, value)), text = parts.length > 1 ? `(${parts.join(", ")})` : parts[0];
    return `${symbols(about.label)} = ${text}${about.unit ? ` ${units(about.unit)}` : ""}`;
  });
  element("about").textContent = words.join("  ·  ");
}

// What the address says; what is not there, or no number, or out of range, stays or is put in range.
function readAddress() {
  const given = new Map();
  for (const pair of window.location.hash.slice(1).split("&")) {
    const [key, text] = pair.split("=");
    if (text === undefined) continue;
    try { given.set(decodeURIComponent(key), decodeURIComponent(text)); } catch { continue; }
  }
  for (const [about, numbers] of everything()) {
    const parts = given.get(about.name)?.split(",").map((text) => (text.trim() ? Number(text) : NaN));
    if (!parts || parts.length !== numbers.length || !parts.every(Number.isFinite)) continue;
    parts.forEach((value, k) => { numbers[k] = Math.min(about.high, Math.max(about.low, value)); });
  }
  const pace = Number(given.get("speed"));
  if (SPEEDS.includes(pace)) speed = SPEEDS.indexOf(pace);
  h = Math.sign(h) * step0[0];
}

function address() {
  const parts = everything().map(([{ name }, numbers]) => `${encodeURIComponent(name)}=${numbers.join(",")}`);
  return `#${[...parts, `speed=${SPEEDS[speed]}`].join("&")}`;
}

function copyLink() {
  window.location.hash = address();
  const link = window.location.href;
  const aside = () => {
    const area = document.createElement("textarea");
    area.value = link;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  (navigator.clipboard ? navigator.clipboard.writeText(link).catch(aside) : Promise.resolve(aside())).then(() => tell("The link is copied.", 2));
}

function downloadTable() {
  const names = live.series.flatMap(({ key, name, error, parts }) => parts.map((part) => (error ? key : name) + part));
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const head = ["method", `time`, ...live.columns, ...names].map(quoted).join(",");
  const lines = engines.flatMap((engine) => engine.table.all.map((row) => [quoted(engine.name), ...row].join(",")));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${[head, ...lines].join("\n")}\n`], { type: "text/csv" }));
  link.download = `${document.title.replace(/[^\w-]+/g, "-").toLowerCase().replace(/^-|-$/g, "") || "motion"}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

live.sliders.forEach((about, k) => buildControl(about, values[k]));
buildControl(live.dt, step0);
buildModes();
