// A stored tree as the views need it: children, depth, which goals a node reached, and the one
// outcome that each node is painted in. Fields that hold their default are not stored.

function buildTree({ card, tree }, row) {
  const allGoals = Array.from({ length: tree.num_goals }, (_, goal) => goal);
  const nodes = (tree.nodes ?? []).map((stored) => ({
    id: stored.id,
    parent: stored.parent ?? null,
    turn: { steps: [], hangs_up: false, failure: null, ...stored.turn },
    openGoals: stored.open_goals ?? [],
    events: stored.events ?? [],
    unscored: stored.unscored ?? [],
    golden: stored.golden ?? false,
    successful: stored.successful ?? false,
    stop: stored.stop ?? null,
    score: stored.score ?? null,
    continuation: stored.continuation ?? false,
    resolved: stored.resolved ?? null,
    outcome: card.outcomes[stored.id] ?? null,
    best: stored.id === row.best,
    children: [],
  }));
  for (const node of nodes) {
    const parent = node.parent === null ? null : nodes[node.parent];
    const before = parent === null ? allGoals : parent.openGoals;
    node.reached = node.turn.failure ? [] : before.filter((goal) => !node.openGoals.includes(goal));
    node.depth = parent === null ? 0 : parent.depth + 1;
    if (parent !== null) parent.children.push(node);
  }
  const roots = nodes.filter((node) => node.parent === null);
  const goals = goalsOf(card, tree.num_goals);
  for (const node of nodes) {
    node.children.sort(byPlace);
    node.reachedKinds = node.reached.map((goal) => goals[goal].kind);
  }
  paint(nodes);
  return { card, row, nodes, roots, goals, cuts: findCuts(nodes) };
}

/** Golden first, so that its branch is the straight one; then by birth, continuations last. */
function byPlace(a, b) {
  return b.golden - a.golden || a.continuation - b.continuation || a.id - b.id;
}

/** `paint` of inner nodes: their own mark, else the most hopeful outcome below them. */
function paint(nodes) {
  const rank = ["open", "error", "failed", "censored", "successful", "golden"];
  for (const node of nodes) node.paint = node.outcome ?? "open";
  for (const node of [...nodes].reverse()) {
    if (node.golden) node.paint = "golden";
    else if (node.successful) node.paint = "successful";
    const parent = node.parent === null ? null : nodes[node.parent];
    const passesOn = parent !== null && parent.outcome === null && node.paint !== "golden";
    if (passesOn && rank.indexOf(node.paint) > rank.indexOf(parent.paint)) parent.paint = node.paint;
  }
}

function goalsOf(card, count) {
  return Array.from({ length: count }, (_, goal) => ({
    kind: `goal ${goal + 1}`,
    arguments: {},
    ...card.goals[goal],
  }));
}

/** Collapse points: [{ node, leaves }], the golden node that earned, and the leaves it cut. */
function findCuts(nodes) {
  const cuts = new Map();
  for (const leaf of nodes) {
    if (leaf.stop !== "collapsed") continue;
    let here = pathTo(nodes, leaf).findLast((node) => node.golden);
    do here = here?.children.find((child) => child.golden);
    while (here && here.reached.length === 0);
    if (!here) continue;
    if (!cuts.has(here)) cuts.set(here, []);
    cuts.get(here).push(leaf);
  }
  return [...cuts].map(([node, leaves]) => ({ node, leaves }));
}

/** The nodes from the root down to a node. */
function pathTo(nodes, node) {
  const path = [];
  for (let here = node; here; here = here.parent === null ? null : nodes[here.parent]) path.unshift(here);
  return path;
}

/** The alternatives a node was chosen from: its siblings, or those of the nearest node above. */
function alternatives(model, node) {
  for (const here of pathTo(model.nodes, node).reverse()) {
    const group = here.parent === null ? model.roots : model.nodes[here.parent].children;
    if (group.length > 1) return { chosen: here, group };
  }
  return null;
}

/** What became of a node: leaves by outcome, and the goals reached from it on. */
function fate(node) {
  const outcomes = {};
  const goals = new Set();
  const waiting = [node];
  while (waiting.length) {
    const here = waiting.pop();
    if (here.continuation && !node.continuation) continue;
    here.reached.forEach((goal) => goals.add(goal));
    if (here.outcome !== null) outcomes[here.outcome] = (outcomes[here.outcome] ?? 0) + 1;
    waiting.push(...here.children);
  }
  return { outcomes, goals };
}
