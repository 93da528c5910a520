// Methods side by side: a row each, a column for each measure, points with intervals, and a dashed
// line where whoever knows nothing would be.

const PICTURES = readIsland("pictures");

const ROW = 24;
const GRID = { width: 1180, names: 160, gap: 30, top: 44, heading: 22, bottom: 26 };

/** Drawn measures: what they are, where no knowledge is, and beyond what they are cut. */
const DRAWN = [
  { key: "spearman_hidden", title: "Hidden rewards", note: "rank correlation within", nothing: () => 0 },
  { key: "auroc_positive", title: "Positive turns", note: "area under the curve", nothing: () => 0.5 },
  { key: "local_difference_sd", title: "Local difference", note: "positive less other, in sd", nothing: () => 0 },
  { key: "spearman_session", title: "Session scores", note: "rank correlation", nothing: () => 0 },
  { key: "global_mse", title: "Error of scores", note: "mean square; line: constant", nothing: constantError, most: () => 2.5 * constantError() },
];

const KINDS = { method: "methods", baseline: "baselines", control: "controls", ceiling: "ceiling" };

function constantError() {
  const found = PICTURES.methods.map(({ measures }) => measures.constant_mse?.value).find((value) => value !== undefined);
  return found ?? 0;
}

function methodsSection() {
  const rows = Object.keys(KINDS).flatMap((kind) => PICTURES.methods.filter((row) => row.kind === kind));
  if (rows.length === 0) return null;
  const columns = DRAWN.filter(({ key }) => rows.some(({ measures }) => isInterval(measures[key])));
  return html(
    "section",
    { class: "methods" },
    html("h2", null, "Methods compared"),
    html("p", { class: "quiet" }, "Held-out conversations; means over seeds, and 95 % intervals over conversations and seeds. Dashed: whoever knows nothing."),
    html("div", { class: "methods-figure scroll" }, methodsFigure(rows, columns)),
    numbersTable(rows),
  );
}

function methodsFigure(rows, columns) {
  const places = rowPlaces(rows);
  const floor = places[places.length - 1] + ROW / 2;
  const width = (GRID.width - GRID.names) / Math.max(1, columns.length);
  const names = rows.map(({ name, kind }, position) => [
    svg("text", { x: 0, y: places[position] + 4 }, svg("title", null, name), short(name, 24)),
    rows[position - 1]?.kind !== kind && heading(KINDS[kind], places[position] - ROW / 2),
  ]);
  const panels = columns.map((column, position) => panel(column, rows, GRID.names + position * width, width - GRID.gap, places));
  const named = columns.map(({ title }) => title).join(", ");
  return svg(
    "svg",
    { viewBox: `0 0 ${GRID.width} ${floor + GRID.bottom}`, role: "img", "aria-label": `${plural(rows.length, "row")} compared by ${named}; numbers follow` },
    names,
    panels,
  );
}

/** The middle of each row; rows of one kind stand below a heading. */
function rowPlaces(rows) {
  let y = GRID.top;
  return rows.map(({ kind }, position) => {
    if (rows[position - 1]?.kind !== kind) y += GRID.heading;
    y += ROW;
    return y - ROW / 2;
  });
}

function heading(kind, y) {
  const top = y - GRID.heading + 2;
  return [svg("line", { x1: 0, x2: GRID.width, y1: top, y2: top }), svg("text", { class: "soft", x: 0, y: y - 4 }, kind)];
}

function panel(column, rows, left, width, places) {
  const found = rows.map(({ measures }) => measures[column.key]).map((value) => (isInterval(value) ? value : null));
  const nothing = column.nothing();
  const most = column.most?.() ?? Infinity;
  const numbers = found.filter(Boolean).flatMap(({ value, low, high }) => [value, low, high]).filter((value) => value !== null);
  const range = rangeOf([...numbers, nothing].map((value) => Math.min(value, most)), 4, false);
  const [least, last] = [range.marks[0], range.marks[range.marks.length - 1]];
  const across = (value) => left + ((Math.min(value, last) - least) / (last - least)) * width;
  const [top, floor] = [GRID.top, places[places.length - 1] + ROW / 2];
  const marks = range.marks.map((value) => [
    svg("line", { x1: across(value), x2: across(value), y1: top, y2: floor }),
    svg("text", { class: "soft", x: across(value), y: floor + 16, "text-anchor": "middle" }, markText(value, range.step)),
  ]);
  return svg(
    "g",
    null,
    svg("text", { class: "head", x: left, y: 16 }, column.title),
    svg("text", { class: "soft", x: left, y: 32 }, column.note),
    marks,
    svg("line", { class: "reference", x1: across(nothing), x2: across(nothing), y1: top, y2: floor }),
    found.map((interval, position) => interval && point(interval, rows[position], places[position], across, last)),
  );
}

/** A point with its interval; an arrow where the value lies beyond the panel. */
function point(interval, { name, kind }, y, across, last) {
  const { value, low, high } = interval;
  const x = across(value);
  const mark = value > last ? svg("path", { class: "beyond", d: `M${x - 4} ${y - 5}L${x + 4} ${y}L${x - 4} ${y + 5}Z` }) : svg("circle", { cx: x, cy: y, r: 4 });
  return svg(
    "g",
    { class: kind },
    svg("title", null, `${name}: ${flat(interval)}`),
    low !== null && high !== null && svg("line", { class: "span", x1: across(low), x2: across(high), y1: y, y2: y }),
    mark,
  );
}

function numbersTable(rows) {
  const keys = [...new Set(rows.flatMap(({ measures }) => Object.keys(measures)))];
  const head = html("tr", null, html("th"), keys.map((key) => html("th", null, label(key))));
  const line = ({ name, measures }) =>
    html("tr", null, html("th", { scope: "row", dir: "auto" }, name), keys.map((key) => html("td", null, isInterval(measures[key]) ? flat(measures[key]) : "–")));
  return html(
    "details",
    { class: "numbers" },
    html("summary", null, "All measures in numbers"),
    html("div", { class: "scroll" }, html("table", { class: "figures" }, html("thead", null, head), html("tbody", null, rows.map(line)))),
  );
}

function short(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
