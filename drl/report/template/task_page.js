// The page of one tree: head, goals, the drawing with its legend, the panel.

/** Builds the page and returns { element, start, press }. */
function taskPage(row, model, { replaceAddress }) {
  const state = { node: null, tab: "task" };

  function show() {
    element.classList.toggle("comparing", state.tab === "compare");
    panel.show(state.tab, state.node);
    if (state.node) {
      canvas.mark(state.node);
      canvas.reveal(state.node);
    }
    replaceAddress(state.node?.id ?? null, state.tab);
  }

  function choose(node) {
    if (state.node === null || state.tab === "task") state.tab = "turn";
    state.node = node;
    show();
  }

  function openTab(tab) {
    state.tab = state.node === null ? "task" : tab;
    show();
  }

  function start(nodeId, tab) {
    state.node = model.nodes[nodeId] ?? null;
    state.tab = state.node === null ? "task" : Object.hasOwn(TABS, tab) ? tab : "turn";
    canvas.redraw();
    show();
  }

  /** Arrow keys; returns whether the key meant something here. */
  function press(key) {
    const next = neighbour(model, state.node, key);
    if (next) choose(next);
    return key.startsWith("Arrow") || next !== null;
  }

  const panel = sidePanel(model, { choose, openTab });
  const canvas = treeCanvas(model, choose);
  const element = html(
    "div",
    { class: "task" },
    taskHead(row, model),
    html("div", { class: "stage" }, canvas.element, legend(model)),
    panel.element,
  );
  return { element, start, press };
}

/** Where a key leads: up and down the branch, left and right along the row. */
function neighbour(model, node, key) {
  if (node === null) return key.startsWith("Arrow") || key === "Home" ? model.roots[0] : null;
  const drawn = (other) => document.querySelector(`[data-node="${other.id}"]`) !== null;
  if (key === "ArrowUp") return node.parent === null ? null : model.nodes[node.parent];
  if (key === "ArrowDown") return node.children.find(drawn) ?? null;
  if (key === "Home") return model.roots[0];
  if (key === "End") {
    let here = node;
    while (here.children.some(drawn)) here = here.children.find(drawn);
    return here;
  }
  const row = model.nodes.filter((other) => other.depth === node.depth && drawn(other)).sort((a, b) => a.x - b.x);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  return step === undefined ? null : (row[row.indexOf(node) + step] ?? null);
}

function taskHead(row, model) {
  const shown = listedRows();
  const place = shown.findIndex((other) => other.position === row.position);
  const trials = INDEX.filter((other) => other.task === row.task);
  const step = (to, text, name) =>
    html("a", { class: "step-link", href: to ? taskAddress(to.position) : null, "aria-label": name, title: name, "aria-disabled": to ? null : "true" }, text);
  return html(
    "header",
    { class: "task-head" },
    html("a", { class: "back", href: "#" }, "‹ All tasks"),
    html("h1", { dir: "auto" }, row.task),
    trials.length > 1 && trialField(row, trials),
    chip(row.score === null ? "unscored" : `score ${score(row.score)}`, "score"),
    html(
      "ul",
      { class: "goal-strip", "aria-label": "Goals" },
      model.goals.map((goal, position) =>
        html("li", { class: row.goal_states[position], title: GOAL_STATES[row.goal_states[position]] }, goalMark(row.goal_states[position]), html("span", { dir: "auto" }, goal.kind)),
      ),
    ),
    html("nav", { class: "steps" }, step(shown[place - 1], "‹", "Previous task"), step(place < 0 ? shown[0] : shown[place + 1], "›", "Next task")),
  );
}

function trialField(row, trials) {
  const go = (event) => (location.hash = taskAddress(Number(event.target.value)));
  const field = html(
    "select",
    { "aria-label": "Trial", on: { change: go } },
    trials.map((other) => html("option", { value: other.position }, `Trial ${other.trial}`)),
  );
  field.value = row.position;
  return field;
}

/** What lines and marks mean; only what this tree shows, the five outcomes always. */
function legend(model) {
  const line = (outcome) =>
    svg("svg", { class: "key", width: 26, height: 12, viewBox: "0 0 26 12" }, svg("path", { class: `edge ${outcome}`, d: "M1 6H25" }));
  const mark = (stop, outcome) =>
    svg("svg", { class: "key", width: 18, height: 18, viewBox: "-9 -9 18 18" }, svg("g", { class: `stop ${outcome}` }, stopShape(stop, outcome)));
  const dot = (className, radius, inner = null) =>
    svg("svg", { class: "key", width: 20, height: 20, viewBox: "-10 -10 20 20" }, svg("g", { class: `node ${className}` }, svg("circle", { class: "dot", r: radius }), inner));
  const stops = [...new Set(model.nodes.filter((node) => node.stop).map((node) => node.stop))];
  const outcomeOf = (stop) => {
    const outcomes = model.nodes.filter((node) => node.stop === stop).map((node) => node.outcome);
    return outcomes.includes("censored") ? "censored" : (outcomes[0] ?? "open");
  };
  const item = (sign, text, title = null) => html("span", { class: "legend-item", title }, sign, text);
  return html(
    "div",
    { class: "legend", "aria-label": "Legend" },
    Object.entries(OUTCOMES).map(([key, meaning]) => item(line(key), key, meaning)),
    model.nodes.some((node) => node.continuation) && item(line("censored continuation"), "continuation", "added to find out how a cut branch would have ended"),
    html("span", { class: "rule" }),
    item(dot("open agent calls", 5.5), "agent, with calls"),
    item(dot("open agent", 5.5), "agent"),
    item(dot("open user", 3), "customer"),
    model.nodes.some((node) => node.reached.length) && item(dot("golden agent goal", 8.5, svg("path", { class: "star", d: STAR })), "goal reached"),
    html("span", { class: "rule" }),
    stops.map((stop) => item(mark(stop, outcomeOf(stop)), STOPS[stop]?.short ?? stop, STOPS[stop]?.long)),
  );
}
