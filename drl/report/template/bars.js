// Estimates of groups side by side: a row each, a mark and its interval for each series in it, such
// as the two turns of a question. Shapes tell series apart, so that colour need not.

const BARS = { width: 560, row: 34, gap: 11, top: 8, bottom: 26, right: 14, names: 110 };

/** The entries of `bars` that can be drawn: { range: [low, high], rows: { name: { series: interval } } }. */
function barCharts() {
  const entries = Object.entries(isRecord(SUMMARY.bars) ? SUMMARY.bars : {}).filter(([, value]) => isRecord(value?.rows) && Array.isArray(value.range));
  if (entries.length === 0) return null;
  return html("section", { class: "bars", "aria-label": "Groups" }, entries.map(([title, chart]) => barChart(title, chart)));
}

function barChart(title, { range, rows, middle }) {
  const names = Object.keys(rows);
  const series = barSeries(rows);
  const [low, high] = range;
  const floor = BARS.top + names.length * BARS.row;
  const right = BARS.width - BARS.right;
  const across = (value) => BARS.names + ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (right - BARS.names);
  const { marks, step } = rangeOf([low, high], 9, false);
  const scale = marks.filter((value) => value >= low - 1e-9 && value <= high + 1e-9).map((value) => [
    svg("line", { x1: across(value), x2: across(value), y1: BARS.top, y2: floor }),
    svg("text", { class: "soft", x: across(value), y: floor + 16, "text-anchor": "middle" }, markText(value, step)),
  ]);
  const lines = names.map((name, position) => barRow(name, rows[name], series, BARS.top + (position + 0.5) * BARS.row, across));
  const told = names.map((name) => `${name}: ${series.map((each) => `${label(each)} ${flat(rows[name][each])}`).join(", ")}`).join("; ");
  return html(
    "figure",
    { class: "chart" },
    html("figcaption", null, html("span", { class: "title", dir: "auto" }, title), html("span", { class: "key" }, series.map(barKey))),
    svg(
      "svg",
      { viewBox: `0 0 ${BARS.width} ${floor + BARS.bottom}`, role: "img", "aria-label": told },
      scale,
      middle !== undefined && svg("line", { class: "reference", x1: across(middle), x2: across(middle), y1: BARS.top, y2: floor }),
      lines,
    ),
  );
}

/** What each row has, without what sums up the others. */
function barSeries(rows) {
  const all = [...new Set(Object.values(rows).flatMap((row) => Object.keys(row)))];
  return all.length > 1 ? all.filter((name) => name !== "both") : all;
}

function barRow(name, row, series, y, across) {
  const shift = (position) => (position - (series.length - 1) / 2) * BARS.gap;
  return svg(
    "g",
    null,
    svg("text", { x: 0, y: y + 4 }, svg("title", null, name), name.length > 16 ? `${name.slice(0, 15)}…` : name),
    series.map((each, position) => isInterval(row[each]) && barMark(`${name}, ${label(each)}`, row[each], position, y + shift(position), across)),
  );
}

function barMark(name, interval, position, y, across) {
  const { value, low, high, n } = interval;
  return svg(
    "g",
    { class: `series-${position}` },
    svg("title", null, `${name}: ${flat(interval)}, n = ${number(n)}`),
    low !== null && high !== null && svg("line", { class: "span", x1: across(low), x2: across(high), y1: y, y2: y }),
    barShape(position, across(value), y),
  );
}

function barShape(position, x, y) {
  if (position === 1) return svg("rect", { class: "mark", x: x - 3.5, y: y - 3.5, width: 7, height: 7, transform: `rotate(45 ${x} ${y})` });
  return svg("circle", { class: "mark", cx: x, cy: y, r: 4 });
}

function barKey(name, position) {
  return html("span", null, svg("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true", class: `series-${position}` }, barShape(position, 6, 6)), label(name));
}
