// The panel beside the tree: the task, the chosen turn, the dialogue up to it, its alternatives.

const TABS = { task: "Task", turn: "Turn", dialogue: "Dialogue", compare: "Compare" };

/** The panel of a task. Returns { element, show }; `show(tab, node)` fills it. */
function sidePanel(model, { choose, openTab }) {
  const body = html("div", { class: "panel-body", id: "panel-body", role: "tabpanel" });
  const tabs = Object.fromEntries(
    Object.entries(TABS).map(([key, name]) => [
      key,
      html("button", { type: "button", role: "tab", on: { click: () => openTab(key) } }, name),
    ]),
  );
  const bar = html("div", { class: "tabs", role: "tablist" }, Object.values(tabs));

  function show(tab, node) {
    for (const [key, button] of Object.entries(tabs)) {
      button.setAttribute("aria-selected", String(key === tab));
      button.disabled = key !== "task" && node === null;
    }
    const views = { task: taskView, turn: turnView, dialogue: dialogueView, compare: compareView };
    body.replaceChildren(...asNodes([views[tab](model, node, choose)]));
    body.scrollTop = 0;
    if (tab === "dialogue") body.querySelector(".current")?.scrollIntoView({ block: "nearest" });
  }
  return { element: html("aside", { class: "panel" }, bar, body), show };
}

function taskView(model, _node, choose) {
  const { card } = model;
  const states = model.row.goal_states;
  return [
    html("h2", null, "What the customer wants"),
    card.instructions.length
      ? html("ul", { class: "instructions" }, card.instructions.map((line) => html("li", { dir: "auto" }, line)))
      : html("p", { class: "quiet" }, "The task has no written brief."),
    html("h2", null, "Goals"),
    model.goals.length === 0 && html("p", { class: "quiet" }, "The task has no goals."),
    html(
      "ol",
      { class: "goals" },
      model.goals.map((goal, position) => goalView(model, goal, position, states[position], choose)),
    ),
    html("h2", null, "The tree"),
    treeFacts(model, choose),
    html("p", { class: "quiet keys" }, "Arrow keys walk the tree, ", kbd("["), " and ", kbd("]"), " change the task, ", kbd("Esc"), " goes back."),
  ];
}

function kbd(key) {
  return html("kbd", null, key);
}

function goalView(model, goal, position, state, choose) {
  const where = model.nodes.filter((node) => node.reached.includes(position));
  const shown = where.slice(0, 4);
  return html(
    "li",
    { class: `goal ${state}` },
    html("div", { class: "goal-head" }, goalMark(state), html("strong", null, goal.kind), html("span", { class: "quiet" }, GOAL_STATES[state])),
    fieldList(goal.arguments),
    where.length > 0 &&
      html(
        "div",
        { class: "where" },
        "at ",
        shown.map((node) => nodeLink(node, choose)),
        where.length > shown.length && ` and ${where.length - shown.length} more`,
      ),
  );
}

function nodeLink(node, choose) {
  return html("button", { type: "button", class: "link", on: { click: () => choose(node) } }, `node ${node.id}`);
}

function goalMark(state) {
  return html("span", { class: `goal-mark ${state}`, title: GOAL_STATES[state], role: "img", "aria-label": GOAL_STATES[state] });
}

function treeFacts({ nodes, row }, choose) {
  const outcomes = Object.entries(row.outcomes).filter(([, count]) => count > 0);
  return html(
    "dl",
    { class: "fields" },
    [
      ["turns stored", number(nodes.length)],
      ["agent calls", number(row.agent_calls)],
      ["branches", outcomes.map(([outcome, count]) => `${number(count)} ${outcome}`).join(", ") || "none"],
      ...(row.best === null ? [] : [["counted dialogue", ["ends at ", nodeLink(nodes[row.best], choose)]]]),
      ...(row.roots > 1 ? [["dialogues", `${row.roots} independent`]] : []),
    ].map(([name, value]) => [html("dt", null, name), html("dd", null, value)]),
  );
}

/** Node number, side, outcome and end, as one line. */
function nodeHead(node) {
  return html(
    "header",
    { class: "node-head" },
    html("h2", null, node.turn.role === "agent" ? "Agent" : "Customer", html("span", { class: "quiet" }, ` node ${node.id}`)),
    chip(node.continuation ? `${node.paint} · continuation` : node.paint, `outcome ${node.paint}`),
    node.stop && chip(STOPS[node.stop]?.short ?? node.stop),
    node.turn.hangs_up && node.stop !== "user_ended" && chip("hangs up"),
    node.score !== null && chip(`score ${score(node.score)}`),
  );
}

function turnView(model, node, choose) {
  const before = node.parent === null ? null : model.nodes[node.parent];
  return [
    nodeHead(node),
    node.resolved &&
      html(
        "p",
        { class: "quiet" },
        `Continued ${node.resolved[1]} times to find out how it would have ended: ${node.resolved[0]} earned a reward.`,
      ),
    cutLine(model, node, choose),
    before?.turn.text && html("blockquote", { dir: "auto" }, before.turn.text),
    turnBody(model, node),
    node.children.length > 0 && followUps(node, choose),
  ];
}

/** What a collapse has to do with the node: it caused one, or was cut by one. */
function cutLine(model, node, choose) {
  const caused = model.cuts.find((cut) => cut.node === node);
  if (caused) return html("p", { class: "quiet" }, `The search went on from here and cut ${plural(caused.leaves.length, "other branch")}.`);
  const cut = model.cuts.find(({ leaves }) => leaves.includes(node));
  if (!cut) return null;
  return html("p", { class: "quiet" }, "Cut because ", nodeLink(cut.node, choose), ` reached ${cut.node.reachedKinds.join(", ")}.`);
}

function followUps(node, choose) {
  const line = (child) =>
    html("li", null, nodeLink(child, choose), chip(child.paint, `outcome ${child.paint}`), html("span", { class: "snippet", dir: "auto" }, child.turn.text ?? ""));
  return html("section", { class: "follow-ups" }, html("h3", null, "Goes on with"), html("ul", null, node.children.map(line)));
}

function dialogueView(model, node, choose) {
  const path = pathTo(model.nodes, node);
  const lines = path.map((here) => {
    const current = here === node;
    const contents = [
      html(
        "button",
        { type: "button", class: "line-head", on: { click: () => choose(here) } },
        html("span", null, here.turn.role === "agent" ? "Agent" : "Customer"),
        html("span", { class: "quiet" }, `node ${here.id}`),
      ),
      turnBody(model, here, !current),
      !current && here.reached.length > 0 && reachedLine(here),
    ];
    return html("article", { class: `line ${here.turn.role}${current ? " current" : ""}` }, contents);
  });
  const next = node.children.filter((child) => !child.continuation);
  if (node.stop) lines.push(html("p", { class: "quiet end" }, label(STOPS[node.stop]?.long ?? node.stop)));
  else if (next.length > 1) {
    lines.push(html("p", { class: "quiet end" }, `The dialogue goes on in ${next.length} branches.`));
  }
  return html("div", { class: "transcript" }, lines);
}

function reachedLine(node) {
  return html("p", { class: "reached" }, `★ ${node.reachedKinds.join(", ")}`);
}

function compareView(model, node, choose) {
  const found = alternatives(model, node);
  if (found === null) return html("p", { class: "quiet" }, "Nothing branches on the way to this turn.");
  const { chosen, group } = found;
  const before = chosen.parent === null ? null : model.nodes[chosen.parent];
  const heading = before
    ? `${group.length} ways to go on after node ${before.id}`
    : `${group.length} independent dialogues`;
  return [
    html("h2", null, heading),
    before?.turn.text && html("blockquote", { dir: "auto" }, before.turn.text),
    html("div", { class: "columns" }, group.map((other) => column(model, other, other === chosen, choose))),
  ];
}

/** All turns of an independent dialogue, in short. */
function wholeDialogue(model, root) {
  const lines = [];
  for (let here = root; here; here = here.children[0]) lines.push(turnBody(model, here, true));
  return lines;
}

function column(model, node, chosen, choose) {
  const { outcomes, goals } = fate(node);
  return html(
    "article",
    { class: `column ${node.paint}${chosen ? " chosen" : ""}` },
    html("header", null, nodeLink(node, choose), chip(node.paint, `outcome ${node.paint}`)),
    node.parent === null ? wholeDialogue(model, node) : turnBody(model, node),
    html(
      "footer",
      { class: "quiet" },
      html("div", null, "From here: ", Object.entries(outcomes).map(([key, count]) => `${count} ${key}`).join(", ") || "no end"),
      html("div", null, goals.size ? `★ ${[...goals].map((goal) => model.goals[goal].kind).join(", ")}` : "no goal reached"),
    ),
  );
}
