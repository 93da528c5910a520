// The list of trees: searched, filtered, sorted; rows are made as they scroll into sight.

const BATCH = 60;
const COLUMNS = [
  { key: "task", name: "Task", of: (row) => row.task },
  { key: "domains", name: "Domains", of: (row) => row.domains.join(" ") },
  { key: "goals", name: "Goals", of: (row) => row.goal_states.filter((state) => state === "hit").length },
  { key: "score", name: "Score", of: (row) => row.score ?? -1, figure: true },
  { key: "branches", name: "Branches", of: (row) => branchCount(row) },
  { key: "agent_calls", name: "Calls", of: (row) => row.agent_calls, figure: true },
  { key: "turns", name: "Turns", of: (row) => row.turns, figure: true },
];

/** What the list shows; kept while a task is open, so that going back finds it again. */
const listState = { text: "", domain: "", score: "", outcome: "", range: null, sort: "task", descending: false };

const SCORE_FILTERS = {
  full: { name: "In full (score 1)", keeps: (row) => row.score !== null && row.score >= 1 - 1e-9 },
  part: { name: "In part", keeps: (row) => row.score > 0 && row.score < 1 - 1e-9 },
  none: { name: "Not at all (score 0)", keeps: (row) => row.score === 0 },
  unscored: { name: "Unscored", keeps: (row) => row.score === null },
};

function branchCount(row) {
  return Object.values(row.outcomes).reduce((sum, count) => sum + count, 0);
}

function searchText(row) {
  row.haystack ??= [row.task, row.title ?? "", `trial ${row.trial}`, ...row.domains, ...row.goals, row.goal_words].join(" ").toLowerCase();
  return row.haystack;
}

/** The rows that pass the filters, in the order of the list. */
function listedRows() {
  const words = listState.text.toLowerCase().split(/\s+/).filter(Boolean);
  const { domain, score, outcome, range } = listState;
  const rows = INDEX.filter(
    (row) =>
      words.every((word) => searchText(row).includes(word)) &&
      (!domain || row.domains.includes(domain)) &&
      (!score || SCORE_FILTERS[score].keeps(row)) &&
      (!outcome || row.outcomes[outcome] > 0) &&
      (!range || (row[range.key] !== null && row[range.key] >= range.low && row[range.key] < range.high)),
  );
  const column = COLUMNS.find(({ key }) => key === listState.sort);
  const sign = listState.descending ? -1 : 1;
  const order = new Intl.Collator("en", { numeric: true }).compare;
  const compare = (a, b) => (typeof a === "string" ? order(a, b) : a - b);
  return rows.sort((a, b) => sign * compare(column.of(a), column.of(b)) || order(a.task, b.task) || a.trial - b.trial);
}

/** The list with its filters. Returns { element, update }; `changed` is called after each change. */
function taskList(changed) {
  const body = html("tbody");
  const count = html("span", { class: "quiet", role: "status" });
  const head = html("tr", null, COLUMNS.map((column) => headCell(column, change)));
  const more = html("div", { class: "more" });
  const filters = html("div", { class: "filters" });
  let rows = [];
  let shown = 0;

  function append() {
    body.append(...rows.slice(shown, shown + BATCH).map(listRow));
    shown = Math.min(rows.length, shown + BATCH);
    more.hidden = shown >= rows.length;
  }

  function update() {
    rows = listedRows();
    shown = 0;
    body.replaceChildren();
    append();
    count.textContent = rows.length === INDEX.length ? plural(rows.length, "tree") : `${number(rows.length)} of ${plural(INDEX.length, "tree")}`;
    COLUMNS.forEach(({ key }, position) => {
      const direction = listState.descending ? "descending" : "ascending";
      head.children[position].setAttribute("aria-sort", listState.sort === key ? direction : "none");
    });
  }

  function change(part) {
    Object.assign(listState, part);
    update();
    changed();
  }

  function fillFilters() {
    filters.replaceChildren(searchField(change), ...choiceFields(change), rangeChip(change) ?? "", count);
  }

  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && !more.hidden) append();
  }, { rootMargin: "600px" }).observe(more);
  fillFilters();
  update();
  const table = html("table", { class: "list" }, html("thead", null, head), body);
  const element = html("section", { class: "task-list" }, html("h2", null, "Tasks"), filters, html("div", { class: "scroll" }, table), more);
  return { element, update: () => (fillFilters(), update()), change };
}

function headCell(column, change) {
  const sort = () => {
    const again = listState.sort === column.key;
    change({ sort: column.key, descending: again ? !listState.descending : Boolean(column.figure) });
  };
  return html("th", { scope: "col", class: column.figure ? "figure" : "" }, html("button", { type: "button", on: { click: sort } }, column.name));
}

function searchField(change) {
  return html("input", {
    type: "search",
    id: "search",
    placeholder: "Search id, domain, goal, value",
    "aria-label": "Search tasks",
    value: listState.text,
    on: { input: (event) => change({ text: event.target.value }) },
  });
}

function choiceFields(change) {
  const domains = [...new Set(INDEX.flatMap((row) => row.domains))].sort();
  const outcomes = Object.keys(OUTCOMES).filter((key) => INDEX.some((row) => row.outcomes[key] > 0));
  return [
    choice("domain", "Any domain", domains.map((domain) => [domain, label(domain)]), change),
    choice("score", "Any score", Object.entries(SCORE_FILTERS).map(([key, { name }]) => [key, name]), change),
    choice("outcome", "Any branches", outcomes.map((key) => [key, `With ${key}`]), change),
  ];
}

function choice(key, any, options, change) {
  const field = html(
    "select",
    { "aria-label": any, on: { change: (event) => change({ [key]: event.target.value }) } },
    html("option", { value: "" }, any),
    options.map(([value, name]) => html("option", { value }, name)),
  );
  field.value = listState[key];
  return field;
}

function rangeChip(change) {
  if (!listState.range) return null;
  const clear = () => change({ range: null });
  return html("button", { type: "button", class: "chip range-chip", on: { click: clear } }, `${listState.range.text} ×`);
}

function listRow(row) {
  const address = taskAddress(row.position);
  return html(
    "tr",
    { on: { click: (event) => event.target.closest("a") || (location.hash = address) } },
    html("td", null, html("a", { href: address, dir: "auto" }, row.task), row.trial > 0 && html("span", { class: "quiet" }, ` · ${row.trial}`), row.title && html("span", { class: "quiet", dir: "auto", title: row.title }, ` ${row.title}`)),
    html("td", { class: "domains", dir: "auto" }, row.domains.join(", ")),
    html("td", null, html("span", { class: "goal-marks" }, row.goal_states.map((state, goal) => goalDot(state, row.goals[goal])))),
    html("td", { class: "figure score" }, row.score === null ? html("span", { class: "quiet" }, "unscored") : scoreCell(row.score)),
    html("td", { class: "branches" }, outcomeStrip(row.outcomes), html("span", { class: "quiet" }, branchCount(row)), row.outcomes.error > 0 && chip(plural(row.outcomes.error, "error"), "outcome error")),
    html("td", { class: "figure" }, number(row.agent_calls)),
    html("td", { class: "figure" }, number(row.turns)),
  );
}

function goalDot(state, kind) {
  const name = `${kind ?? "goal"}: ${GOAL_STATES[state]}`;
  return html("span", { class: `goal-mark ${state}`, role: "img", title: name, "aria-label": name });
}

function scoreCell(score) {
  const width = Math.min(1, Math.max(0, score)) * 40;
  return html(
    "span",
    { class: "score-cell" },
    svg("svg", { width: 40, height: 6, viewBox: "0 0 40 6", "aria-hidden": "true" }, svg("rect", { class: "rail", width: 40, height: 6, rx: 3 }), svg("rect", { class: "level", width, height: 6, rx: 3 })),
    html("span", null, score.toFixed(2)),
  );
}

/** The overview page: head, numbers, curves, charts, list, tables. */
function overviewPage(message) {
  const charts = html("section", { class: "charts", "aria-label": "Distributions" });
  const curves = curveCharts();
  const list = taskList(() => (drawCharts(), list.update()));
  function drawCharts() {
    charts.replaceChildren(...overviewCharts(list.change));
  }
  drawCharts();
  return html(
    "div",
    { class: "overview" },
    message && notice(message),
    summaryHead(),
    keyNumbers(),
    barCharts(),
    curves,
    INDEX.length > 0 ? charts : !curves && notice("This run has no trees yet."),
    html("div", { class: "lower" }, INDEX.length > 0 && list.element, summaryTables()),
  );
}

function overviewCharts(change) {
  const pressed = (key, text) => ({
    choose: (bin) => change({ range: isChosen(key, bin) ? null : { key, low: bin.low, high: bin.high, text: text(bin) } }),
    isChosen: (bin) => isChosen(key, bin),
    describe: text,
  });
  const isChosen = (key, bin) => listState.range?.key === key && listState.range.low === bin.low;
  const scoreText = (bin) => (bin.high === Infinity ? "score 1" : `score ${bin.low.toFixed(1)} to below ${bin.high.toFixed(1)}`);
  const countText = (noun) => (bin) => (bin.high - bin.low === 1 ? plural(bin.low, noun) : `${bin.low} to ${bin.high - 1} ${noun}s`);
  const countChart = (title, key, noun) => {
    const bins = binRows(INDEX, key, countEdges(INDEX.map((row) => row[key])));
    const every = Math.ceil(bins.length / 7);
    const tick = (bin, position) => (position % every ? null : number(bin.low));
    return histogram(title, bins, { ...pressed(key, countText(noun)), tick });
  };
  const scoreTick = (bin, position) => (position % 5 ? null : ["0", "0.5", "1"][position / 5]);
  return [
    histogram("Score", binRows(INDEX, "score", SCORE_EDGES), { ...pressed("score", scoreText), tick: scoreTick }),
    outcomeChart(INDEX, {
      choose: (outcome) => change({ outcome: listState.outcome === outcome ? "" : outcome }),
      isChosen: (outcome) => listState.outcome === outcome,
    }),
    countChart("Agent calls per tree", "agent_calls", "call"),
    countChart("Agent turns of the dialogue", "turns", "turn"),
  ];
}
