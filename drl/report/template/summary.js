// The numbers of the run. Entries with a known name have a place of their own; all others are
// shown by their shape: an interval, a number, a table, a list.

const MOST_COLUMNS = 5; // more do not fit beside the list of tasks

const PLACED = new Set([
  "n_tasks", "n_scored", "n_errors", "seconds", "mean_reward", "full_success", "search", "label",
  "simulator", "data_version", "command", "branches", "name", "agent_calls",
  "n_trials", "n_unscored", "bars",
]);

function summaryHead() {
  const facts = ["simulator", "data_version"].filter((key) => SUMMARY[key]).map((key) =>
    html("span", { class: "fact" }, html("span", { class: "quiet" }, `${label(key)} `), flat(SUMMARY[key])),
  );
  return html(
    "header",
    { class: "run-head" },
    html("h1", { dir: "auto" }, TITLE),
    html(
      "p",
      { class: "run-label" },
      SUMMARY.search === true && chip("search", "search"),
      SUMMARY.search === false && chip("policy", "policy"),
      SUMMARY.label && html("span", null, SUMMARY.label),
    ),
    facts.length > 0 && html("p", { class: "facts" }, facts),
  );
}

function keyNumbers() {
  const calls = INDEX.reduce((sum, row) => sum + row.agent_calls, 0);
  const trees = INDEX.length;
  const hasTasks = trees > 0 || SUMMARY.n_tasks !== undefined; // a training may have none
  const numbers = [
    isInterval(SUMMARY.mean_reward) && intervalNumber("Mean reward", SUMMARY.mean_reward),
    isInterval(SUMMARY.full_success) && intervalNumber("Full success", SUMMARY.full_success),
    hasTasks && keyNumber("Tasks", number(SUMMARY.n_tasks ?? trees), tasksNote(trees)),
    hasTasks && keyNumber("Errors", number(SUMMARY.n_errors ?? sumErrors()), "dialogues that broke"),
    hasTasks && keyNumber("Agent calls", number(calls), callsNote(calls, trees)),
    SUMMARY.seconds !== undefined && keyNumber("Time", duration(SUMMARY.seconds), ""),
  ].filter(Boolean);
  if (numbers.length === 0) return null;
  return html("section", { class: "key-numbers", "aria-label": "Key numbers" }, numbers);
}

function tasksNote(trees) {
  const scored = SUMMARY.n_scored === undefined ? "" : `${number(SUMMARY.n_scored)} scored`;
  const unequal = SUMMARY.n_tasks !== undefined && SUMMARY.n_tasks !== trees;
  const trials = SUMMARY.n_trials > 1 && `${number(SUMMARY.n_trials)} trials`;
  const unscored = SUMMARY.n_unscored > 0 && `${number(SUMMARY.n_unscored)} unscored`;
  return [unequal && plural(trees, "tree"), trials, scored, unscored].filter(Boolean).join(", ");
}

function callsNote(calls, trees) {
  if (isInterval(SUMMARY.agent_calls)) return `${flat(SUMMARY.agent_calls)} a task`;
  return trees ? `${number(Math.round(calls / trees))} a tree` : "";
}

function sumErrors() {
  return INDEX.reduce((sum, row) => sum + row.outcomes.error, 0);
}

function keyNumber(name, value, note, extra = null) {
  return html(
    "div",
    { class: "key-number" },
    html("div", { class: "name" }, name),
    html("div", { class: "value" }, value),
    extra,
    note && html("div", { class: "note" }, note),
  );
}

function intervalNumber(name, interval) {
  const note = interval.low === null ? "" : `${number(interval.low)} to ${number(interval.high)}`;
  return keyNumber(name, number(interval.value), note, intervalBar(interval));
}

/** Everything else of the summary, and the command that made it. */
function summaryTables() {
  const alone = (key, value) => ["pass_hat_k", "per_domain"].includes(key) && Object.keys(value).length < 2; // says what stands elsewhere
  const rest = Object.entries({ ...SUMMARY, curves: otherCurves() }).filter(([key, value]) => !PLACED.has(key) && !alone(key, value));
  const simple = rest.filter(([, value]) => isSimple(value));
  const shaped = rest.filter(([, value]) => !isSimple(value) && Object.keys(value).length > 0);
  return html(
    "section",
    { class: "tables" },
    shaped.map(([key, value]) => html("section", null, html("h2", null, label(key)), shapeView(value, 0, key === "per_goal_kind" ? String : label))),
    simple.length > 0 && html("section", null, html("h2", null, "More"), shapeView(Object.fromEntries(simple), 0)),
    SUMMARY.command &&
      html("section", null, html("h2", null, "Command"), html("pre", { class: "command" }, SUMMARY.command)),
  );
}

function isInterval(value) {
  return isRecord(value) && "value" in value && "low" in value && "high" in value;
}

function isSimple(value) {
  return value === null || typeof value !== "object" || isInterval(value);
}

/** Simple values read as one text. */
function flat(value) {
  if (isInterval(value)) {
    return value.low === null ? number(value.value) : `${number(value.value)} [${number(value.low)}, ${number(value.high)}]`;
  }
  if (typeof value === "number") return number(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function shapeView(value, depth, named = label) {
  if (isSimple(value) || depth > 3) return document.createTextNode(visible(flat(value)));
  const rows = Array.isArray(value) ? value.map((item, i) => [i + 1, item]) : Object.entries(value);
  if (Array.isArray(value) && value.every(isSimple)) return html("span", null, value.map(flat).join(", "));
  if (!Array.isArray(value) && rows.some(([, row]) => isInterval(row)) && rows.every(([, row]) => isSimple(row))) {
    return intervalTable(rows, named);
  }
  const isTable = rows.length > 0 && rows.every(([, row]) => isRecord(row) && !isInterval(row));
  const isNarrow = rows.every(([, row]) => Object.keys(row ?? {}).length <= MOST_COLUMNS);
  if (isTable && isNarrow) return recordTable(rows, Array.isArray(value), depth);
  return html(
    "dl",
    { class: "fields" },
    rows.map(([name, item]) => [html("dt", { dir: "auto" }, label(name)), html("dd", null, shapeView(item, depth + 1))]),
  );
}

/** Named estimates: value, interval, and a bar where it is a share. */
function intervalTable(rows, named) {
  const shares = rows.every(([, item]) => !isInterval(item) || (item.value >= 0 && (item.high ?? 0) <= 1));
  const line = ([name, item]) =>
    html(
      "tr",
      null,
      html("th", { scope: "row", dir: "auto" }, named(name)),
      html("td", { class: "figure" }, isInterval(item) ? number(item.value) : flat(item)),
      html("td", { class: "range" }, isInterval(item) && item.low !== null && `${number(item.low)} – ${number(item.high)}`),
      shares && html("td", { class: "bar-cell" }, isInterval(item) && intervalBar(item, 64)),
    );
  return html("div", { class: "scroll" }, html("table", { class: "figures" }, html("tbody", null, rows.map(line))));
}

/** Records as a table; the first column is their name unless they come as a list. */
function recordTable(rows, unnamed, depth) {
  const columns = [...new Set(rows.flatMap(([, row]) => Object.keys(row)))];
  const cell = (value) =>
    html("td", { class: typeof value === "string" ? "" : "figure" }, value === undefined ? "–" : cellView(value, depth));
  return html(
    "div",
    { class: "scroll" },
    html(
      "table",
      { class: "figures" },
      html("thead", null, html("tr", null, !unnamed && html("th"), columns.map((key) => html("th", null, label(key))))),
      html(
        "tbody",
        null,
        rows.map(([name, row]) =>
          html("tr", null, !unnamed && html("th", { scope: "row" }, name), columns.map((key) => cell(row[key]))),
        ),
      ),
    ),
  );
}

function cellView(value, depth) {
  if (!isInterval(value)) return shapeView(value, depth + 1);
  const range = value.low === null ? "" : ` ${number(value.low)}–${number(value.high)}`;
  return html("span", null, number(value.value), html("span", { class: "range" }, range));
}
