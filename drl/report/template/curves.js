// Curves as inline SVG: small charts of one line or several on the same axes, with numbers on both, a
// band where there is one, and the point under the pointer in words.

const PLOT = { width: 280, height: 156, top: 6, right: 8, bottom: 34 };
const MARKS = { across: 6, up: 5 }; // intervals between marks on an axis, about
const TONES = 3; // as many as viewer.css has

/** The entries of `curves` that can be drawn: a line, or several by name. */
function isCurve(value) {
  if (!isRecord(value)) return false;
  if (!isRecord(value.lines)) return isLine(value);
  const lines = Object.values(value.lines);
  return lines.length > 0 && lines.every(isLine);
}

/** x and y, maybe low and high: equally many numbers, or null for none. */
function isLine(value) {
  if (!isRecord(value)) return false;
  const rows = [value.x, value.y, value.low ?? value.y, value.high ?? value.y];
  return rows.every(
    (row) => Array.isArray(row) && row.length === value.x?.length && row.every((item) => item === null || typeof item === "number"),
  );
}

/** All charts, or nothing where there is no curve. */
function curveCharts() {
  const curves = Object.entries(isRecord(SUMMARY.curves) ? SUMMARY.curves : {}).filter(([, value]) => isCurve(value));
  if (curves.length === 0) return null;
  return html("section", { class: "charts curves", "aria-label": "Curves" }, curves.map(([name, curve]) => curveChart(label(name), curve)));
}

/** What of `curves` is shown by its shape, as it cannot be drawn. */
function otherCurves() {
  if (!isRecord(SUMMARY.curves)) return SUMMARY.curves ?? {};
  return Object.fromEntries(Object.entries(SUMMARY.curves).filter(([, value]) => !isCurve(value)));
}

function curveChart(title, curve) {
  const lines = linesOf(curve);
  const known = lines.flatMap(({ points }) => points.filter(({ y }) => y !== null));
  const readout = html("span", { class: "readout" }, "no number yet");
  const caption = html(
    "figcaption",
    null,
    html("span", { class: "title", dir: "auto" }, title),
    lines.length > 1 && html("span", { class: "key" }, lines.map(lineKey)),
    readout,
  );
  if (known.length === 0) return html("figure", { class: "chart" }, caption);
  const axes = axesOf(lines.flatMap(({ points }) => points));
  const name = typeof curve.x_label === "string" ? curve.x_label : "x";
  const tell = pointTeller(lines, axes, readout, name);
  const drawing = svg(
    "svg",
    {
      viewBox: `0 0 ${PLOT.width} ${PLOT.height}`,
      role: "img",
      tabindex: 0,
      "aria-label": `${title}: ${lines.map(lineInWords).join("; ")}; arrow keys walk the points`,
      on: tell.listeners,
    },
    axisMarks(axes, name),
    lines.filter(({ beside }) => beside === null).map((line) => svg("path", { class: `band tone-${line.tone}`, d: bandPath(line.points, axes) })),
    lines.map((line) => [
      svg("path", { class: `line tone-${line.tone}${line.beside === null ? "" : " beside"}`, d: linePath(line.points, axes) }),
      loneDots(line, axes),
    ]),
    tell.mark,
  );
  return html("figure", { class: "chart" }, caption, drawing);
}

/**
 * The lines of a curve: [{ name, beside, tone, points }]. A line that stands `beside` another one is
 * drawn in its tone, broken and without a band; the name of a line alone is null.
 */
function linesOf(curve) {
  const named = isRecord(curve.lines) ? Object.entries(curve.lines) : [[null, curve]];
  const leading = named.filter(([, line]) => !Object.hasOwn(curve.lines ?? {}, line.beside)).map(([name]) => name);
  return named.map(([name, line]) => {
    const beside = leading.includes(name) ? null : line.beside;
    const points = line.x
      .map((x, i) => ({ x, y: line.y[i], low: line.low?.[i] ?? null, high: line.high?.[i] ?? null, name }))
      .filter(({ x }) => x !== null);
    return { name, beside, tone: Math.max(0, leading.indexOf(beside ?? name)) % TONES, points };
  });
}

/** What of a line's look is whose, in the caption. */
function lineKey({ name, tone, beside }) {
  const stroke = svg("line", { class: `line tone-${tone}${beside === null ? "" : " beside"}`, x1: 0, x2: 18, y1: 6, y2: 6 });
  return html("span", null, svg("svg", { viewBox: "0 0 18 12", "aria-hidden": "true" }, stroke), name);
}

function lineInWords({ name, points }) {
  const known = points.filter(({ y }) => y !== null);
  const words = known.length === 0 ? "no number yet" : `${plural(known.length, "point")}, from ${number(known[0].y)} to ${number(known[known.length - 1].y)}`;
  return name === null ? words : `${name}, ${words}`;
}

/** Where numbers stand: { x, y }, each with `at(value)` in the drawing and `marks` on the axis. */
function axesOf(points) {
  const heights = points.flatMap(({ y, low, high }) => [y, low, high]).filter((value) => value !== null);
  const up = rangeOf(heights, MARKS.up, false);
  const left = 8 + Math.max(...up.marks.map((value) => textWidth(markText(value, up.step), "11px sans-serif")));
  const places = points.map(({ x }) => x);
  const across = rangeOf(places, MARKS.across, places.every(Number.isInteger));
  // The line uses the whole width: marks lie within it, not around it.
  const [least, most] = [Math.min(...places), Math.max(...places)];
  const width = PLOT.width - PLOT.right - left;
  const floor = PLOT.height - PLOT.bottom;
  return {
    left,
    x: {
      ...across,
      marks: least === most ? [least] : across.marks.filter((value) => value >= least && value <= most),
      at: (value) => left + (least === most ? 0.5 : (value - least) / (most - least)) * width,
    },
    y: {
      ...up,
      at: (value) => floor - ((value - up.marks[0]) / (up.marks[up.marks.length - 1] - up.marks[0])) * (floor - PLOT.top),
    },
  };
}

/** Round marks around numbers, about `count` intervals of 1, 2 or 5 times a power of ten. */
function rangeOf(values, count, whole) {
  let [least, most] = [Math.min(...values), Math.max(...values)];
  if (most - least <= Math.abs(most) * 1e-12) {
    const room = Math.abs(most) / 2 || 1;
    [least, most] = [least - room, most + room];
  }
  const power = 10 ** Math.floor(Math.log10((most - least) / count));
  const rough = [1, 2, 5, 10].map((digit) => digit * power).find((size) => (most - least) / size <= count);
  const step = whole ? Math.max(1, rough) : rough;
  const first = Math.floor(least / step + 1e-9);
  const length = Math.max(1, Math.ceil(most / step - 1e-9) - first) + 1;
  return { step, marks: Array.from({ length }, (_, i) => (first + i) * step) };
}

/** A number on an axis, with as many decimals as its steps need. */
function markText(value, step) {
  if (Math.abs(value) < step / 2) return "0";
  const size = Math.max(Math.abs(value), step);
  if (size >= 1e5) return value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (size < 1e-3) return value.toExponential(Math.max(1, Math.floor(Math.log10(size)) + decimals));
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(20, decimals) });
}

function axisMarks(axes, name) {
  const floor = PLOT.height - PLOT.bottom;
  const right = PLOT.width - PLOT.right;
  const up = axes.y.marks.map((value) => [
    svg("line", { x1: axes.left, x2: right, y1: axes.y.at(value), y2: axes.y.at(value) }),
    svg("text", { class: "up", x: axes.left - 6, y: axes.y.at(value) + 4, "text-anchor": "end" }, markText(value, axes.y.step)),
  ]);
  const across = axes.x.marks.map((value) =>
    svg("text", { class: "across", x: axes.x.at(value), y: floor + 15, "text-anchor": "middle" }, markText(value, axes.x.step)),
  );
  const label = svg("text", { class: "across-name", x: (axes.left + right) / 2, y: PLOT.height - 4, "text-anchor": "middle" }, name);
  return [up, across, label];
}

/** Stretches of points that have no gap: lists of points for which `has` holds. */
function stretches(points, has) {
  const found = [[]];
  for (const point of points) {
    if (has(point)) found[found.length - 1].push(point);
    else found.push([]);
  }
  return found.filter((stretch) => stretch.length > 0);
}

function linePath(points, { x, y }) {
  const place = (point) => `${x.at(point.x)} ${y.at(point.y)}`;
  return stretches(points, (point) => point.y !== null).map((stretch) => `M${stretch.map(place).join("L")}`).join("");
}

/** Points between gaps, which no line reaches. */
function loneDots({ points, tone }, { x, y }) {
  return stretches(points, (point) => point.y !== null)
    .filter((stretch) => stretch.length === 1)
    .map(([point]) => svg("circle", { class: `lone tone-${tone}`, cx: x.at(point.x), cy: y.at(point.y), r: 2.5 }));
}

function bandPath(points, { x, y }) {
  const place = (end) => (point) => `${x.at(point.x)} ${y.at(point[end])}`;
  return stretches(points, ({ low, high }) => low !== null && high !== null)
    .map((stretch) => `M${[...stretch.map(place("low")), ...stretch.map(place("high")).reverse()].join("L")}Z`)
    .join("");
}

/**
 * Tells one point in words and marks it; by itself the last of the first line with any. The pointer
 * finds the nearest point: across alone where there is one line, else in the plane.
 * Returns { mark, listeners }.
 */
function pointTeller(lines, axes, readout, name) {
  const points = lines.flatMap((line) => line.points.filter(({ y }) => y !== null).map((point) => ({ ...point, tone: line.tone })));
  const first = points.findLastIndex((point) => point.name === points[0].name);
  const guide = svg("line", { class: "guide", y1: PLOT.top, y2: PLOT.height - PLOT.bottom });
  const dot = svg("circle", { r: 3.5 });
  const mark = svg("g", { class: "point" }, guide, dot);
  let shown = first;

  function show(position, marked) {
    shown = Math.min(points.length - 1, Math.max(0, position));
    const { x, y, low, high, tone, name: line } = points[shown];
    const [across, up] = [axes.x.at(x), axes.y.at(y)];
    guide.setAttribute("x1", across);
    guide.setAttribute("x2", across);
    dot.setAttribute("cx", across);
    dot.setAttribute("cy", up);
    dot.setAttribute("class", `tone-${tone}`);
    mark.setAttribute("visibility", marked ? "visible" : "hidden");
    const whose = line === null ? "" : `${line}, `;
    readout.textContent = visible(`${whose}${name} ${number(x)}: ${flat({ value: y, low, high })}`);
  }

  function follow(event) {
    const box = event.currentTarget.getBoundingClientRect();
    const across = ((event.clientX - box.left) / box.width) * PLOT.width;
    const up = ((event.clientY - box.top) / box.height) * PLOT.height;
    const distances = points.map(({ x, y }) => Math.hypot(axes.x.at(x) - across, lines.length > 1 ? axes.y.at(y) - up : 0));
    show(distances.indexOf(Math.min(...distances)), true);
  }

  function walk(event) {
    const steps = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: points.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    show(steps[event.key], true);
  }

  const leave = () => show(first, false);
  leave();
  return { mark, listeners: { pointermove: follow, pointerdown: follow, pointerleave: leave, keydown: walk, blur: leave } };
}
