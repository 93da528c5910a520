// Small charts as inline SVG: histograms whose bars filter the list, and stacked outcome bars.

const CHART = { width: 280, height: 128, left: 4, bottom: 20, top: 16 };

/** Bins [{ low, high, label, count }] of a number of each row; `high` is exclusive. */
function binRows(rows, key, edges) {
  const values = rows.map((row) => row[key]).filter((value) => value !== null);
  return edges.slice(0, -1).map((low, position) => {
    const high = edges[position + 1];
    return { low, high, count: values.filter((value) => value >= low && value < high).length };
  });
}

/** Tenths, with a full score in a bin of its own. */
const SCORE_EDGES = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 - 1e-9, Infinity];

/** About a dozen bins of whole numbers with round edges. */
function countEdges(values) {
  const most = Math.max(1, ...values);
  const least = Math.min(...values, most);
  const span = most - least + 1;
  const step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000].find(
    (size) => span / size <= 14,
  ) ?? Math.ceil(span / 14);
  const start = Math.floor(least / step) * step;
  return Array.from({ length: Math.floor((most - start) / step) + 2 }, (_, i) => start + i * step);
}

/** A histogram; `describe(bin)` names a bin, `choose(bin)` is called when one is pressed. */
function histogram(title, bins, { describe, tick, choose, isChosen }) {
  const tallest = Math.max(1, ...bins.map((bin) => bin.count));
  const width = Math.min(72, (CHART.width - 2 * CHART.left) / bins.length);
  const floor = CHART.height - CHART.bottom;
  const bars = bins.map((bin, position) => {
    const height = (bin.count / tallest) * (floor - CHART.top);
    const x = CHART.left + position * width;
    const name = `${describe(bin)}: ${plural(bin.count, "task")}`;
    const text = tick(bin, position);
    return svg(
      "g",
      { class: `bin${isChosen(bin) ? " chosen" : ""}`, ...pressable(() => choose(bin), name) },
      svg("title", null, name),
      svg("rect", { class: "reach", x, y: CHART.top, width, height: floor - CHART.top }),
      svg("rect", { class: "bar", x: x + 1.5, y: floor - height, width: Math.max(1, width - 3), height, rx: 1.5 }),
      bin.count > 0 && width > 17 &&
        svg("text", { class: "count", x: x + width / 2, y: floor - height - 4, "text-anchor": "middle" }, number(bin.count)),
      text !== null &&
        svg("text", { x: x + width / 2, y: CHART.height - 6, "text-anchor": "middle" }, text),
    );
  });
  const base = svg("line", { x1: 0, x2: CHART.width, y1: floor, y2: floor });
  return html(
    "figure",
    { class: "chart" },
    html("figcaption", null, title),
    svg("svg", { viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "group", "aria-label": title }, base, bars),
  );
}

/** How the branches of all rows ended, one bar an outcome, in the line style of the trees. */
function outcomeChart(rows, { choose, isChosen }) {
  const totals = Object.keys(OUTCOMES).map((outcome) => ({
    outcome,
    count: rows.reduce((sum, row) => sum + row.outcomes[outcome], 0),
  }));
  const most = Math.max(1, ...totals.map(({ count }) => count));
  const step = 24;
  const title = `How ${IS_ALONE ? "dialogues" : "branches"} ended`;
  const lines = totals.map(({ outcome, count }, position) => {
    const y = 10 + position * step;
    const length = (count / most) * 142;
    const name = `${plural(count, BRANCH)} ${outcome}: ${OUTCOMES[outcome]}`;
    return svg(
      "g",
      { class: `bin${isChosen(outcome) ? " chosen" : ""}`, ...pressable(() => choose(outcome), name) },
      svg("title", null, name),
      svg("rect", { class: "reach", x: 0, y: y - 9, width: CHART.width, height: step - 2 }),
      svg("text", { class: "name", x: 4, y: y + 5 }, label(outcome)),
      svg("rect", { class: `bar ${outcome}`, x: 82, y: y - 4, width: Math.max(count ? 2 : 0, length), height: 11, rx: 1.5 }),
      svg("text", { class: "count", x: 88 + length, y: y + 5 }, number(count)),
    );
  });
  return html(
    "figure",
    { class: "chart" },
    html("figcaption", null, title),
    svg("svg", { viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "group", "aria-label": title }, lines),
  );
}

/** The share of each outcome as one thin bar. */
function outcomeStrip(outcomes) {
  const total = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const text = Object.entries(outcomes).filter(([, count]) => count).map(([key, count]) => `${count} ${key}`).join(", ");
  let x = 0;
  const parts = Object.entries(outcomes).map(([outcome, count]) => {
    const width = total ? (count / total) * 96 : 0;
    const part = width > 0 && svg("rect", { class: `bar ${outcome}`, x, y: 0, width: Math.max(1, width - 1), height: 8 });
    x += width;
    return part;
  });
  return svg("svg", { class: "strip", viewBox: "0 0 96 8", width: 96, height: 8, role: "img", "aria-label": text }, svg("title", null, text), parts);
}

/** A value between 0 and 1 with its interval, on a line from 0 to 1. */
function intervalBar({ value, low, high }, length = 140) {
  const at = (share) => 4 + Math.min(1, Math.max(0, share)) * (length - 8);
  return svg(
    "svg",
    { class: "interval", viewBox: `0 0 ${length} 12`, preserveAspectRatio: "xMinYMid", role: "img", "aria-label": `between ${number(low)} and ${number(high)}` },
    svg("line", { class: "axis", x1: at(0), x2: at(1), y1: 6, y2: 6 }),
    low !== null && high !== null && svg("line", { class: "span", x1: at(low), x2: at(high), y1: 6, y2: 6 }),
    svg("circle", { cx: at(value), cy: 6, r: 4 }),
  );
}
