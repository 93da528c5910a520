// The tree as SVG. Colour, width, dash and shape say the same thing, so that none is needed alone.

const GLYPHS = {
  goals_reached: "M-3.6 .2L-1 2.8L3.8 -2.6",
  user_ended: "M-3.2 0H3.2",
  max_turns: "M-2.6 -3.2H2.6L-2.6 3.2H2.6Z",
  budget: "M-3 -2.4H3M-3 0H3M-3 2.4H3",
  context_overflow: "M-3.4 0H1.6M-.6 -2.4L2 0L-.6 2.4M3.4 -3V3",
  error: "M0 -3V.6M0 2.6V2.8",
};
const STAR = "M0 -5.2L1.5 -1.9L5 -1.6L2.4 .7L3.2 4.2L0 2.4L-3.2 4.2L-2.4 .7L-5 -1.6L-1.5 -1.9Z";

/** The group with the whole drawing; `choose` is called with the node that was pressed. */
function drawTree(model, bounds, withContinuations, choose) {
  const shown = model.nodes.filter((node) => withContinuations || !node.continuation);
  const order = ["open", "censored", "error", "failed", "successful", "golden"];
  const byRank = [...shown].sort((a, b) => order.indexOf(a.paint) - order.indexOf(b.paint));
  return svg(
    "g",
    { class: "drawing" },
    svg("g", { class: "turn-rows" }, drawTurnRows(model, bounds)),
    svg("g", { class: "halo" }),
    svg("g", null, model.cuts.map(drawCut)),
    svg("g", null, byRank.filter((node) => node.parent !== null).map((node) => drawEdge(model, node))),
    svg("g", null, shown.map((node) => drawNode(node, choose))),
  );
}

function drawTurnRows(model, bounds) {
  const rows = turnRows(model) ?? [];
  return rows.map((depth, turn) => [
    svg("line", { x1: bounds.left - 14, x2: bounds.right + 6, y1: depth * ROW, y2: depth * ROW }),
    svg("text", { x: bounds.left - 22, y: depth * ROW + 3.5, "text-anchor": "end" }, turn + 1),
  ]);
}

/** The line along which a collapse cut the other branches; short where they end in other rows. */
function drawCut({ node, leaves }) {
  const level = leaves.every((leaf) => leaf.depth === node.depth);
  const right = level ? Math.max(...leaves.map((leaf) => leaf.x)) + 12 : node.x + LANE.least;
  const y = node.y + STUB;
  const title = svg("title", null, `Collapse: ${plural(leaves.length, "other branch")} cut here`);
  return svg("path", { class: "cut", d: `M${node.x} ${y}H${right}` }, title);
}

function drawEdge(model, node) {
  const className = `edge ${node.paint}${node.continuation ? " continuation" : ""}`;
  return svg("path", { class: className, d: edgePath(model.nodes[node.parent], node) });
}

function edgePath(parent, child) {
  if (parent.x === child.x) return `M${parent.x} ${parent.y}V${child.y}`;
  const bend = 12;
  return (
    `M${parent.x} ${parent.y}H${child.x - bend}` +
    `Q${child.x} ${parent.y} ${child.x} ${parent.y + bend}V${child.y}`
  );
}

const STUB = 18;

function drawNode(node, choose) {
  const isAgent = node.turn.role === "agent";
  const calls = node.turn.steps.some((step) => step.calls?.length);
  const names = ["node", node.paint, isAgent ? "agent" : "user"];
  if (calls) names.push("calls");
  if (node.continuation) names.push("continuation");
  if (node.reached.length) names.push("goal");
  return svg(
    "g",
    {
      class: names.join(" "),
      "data-node": node.id,
      transform: `translate(${node.x} ${node.y})`,
      on: { click: () => choose(node) },
    },
    svg("title", null, nodeTitle(node)),
    node.stop && drawStop(node),
    svg("circle", { class: "target", r: 14 }),
    svg("circle", { class: "dot", r: node.reached.length ? 9 : isAgent ? 6 : 3 }),
    node.reached.length > 0 && [svg("path", { class: "star", d: STAR }), drawBadge(node)],
  );
}

function nodeTitle(node) {
  const who = node.turn.role === "agent" ? "Agent" : "Customer";
  const said = node.turn.text === null ? "(goes on)" : node.turn.text.slice(0, 160);
  const lines = [`${who} · node ${node.id} · ${node.paint}`, said];
  if (node.stop) lines.push(`Stops: ${STOPS[node.stop]?.short ?? node.stop}`);
  return lines.join("\n");
}

function drawBadge(node) {
  const { text, width, onLeft } = badgeOf(node);
  const left = onLeft ? -BADGE_GAP - width + 4 : BADGE_GAP - 4;
  return svg(
    "g",
    { class: "badge" },
    svg("rect", { x: left, y: -9.5, width, height: 19, rx: 9.5 }),
    svg("text", { x: left + width / 2, y: 4, "text-anchor": "middle" }, text),
  );
}

/** The end of a branch: its shape is the outcome, the mark in it the reason. */
function drawStop(node) {
  const outcome = node.outcome ?? "open";
  const aside = node.children.length > 0 && node.stop !== "collapsed";
  const place = aside ? "translate(15 0)" : `translate(0 ${STUB})`;
  return svg(
    "g",
    { class: `stop ${outcome}` },
    !aside && svg("path", { class: `edge ${node.paint}`, d: `M0 0V${STUB}` }),
    svg("g", { transform: place }, stopShape(node.stop, outcome)),
    drawScore(node, aside),
  );
}

/** The score beside the end; that of the dialogue which counts stands in a label. */
function drawScore(node, aside) {
  const label = scoreOf(node);
  if (label === null) return null;
  const { text, width } = label;
  const [x, y] = aside ? [26, 0] : [SCORE_GAP, STUB];
  if (!node.best) return svg("text", { class: "score", x, y: y + 4 }, text);
  return svg(
    "g",
    { class: "best" },
    svg("title", null, "The dialogue that counts for this task"),
    svg("rect", { x, y: y - 8.5, width, height: 17, rx: 8.5 }),
    svg("text", { x: x + width / 2, y: y + 4, "text-anchor": "middle" }, text),
  );
}

function stopShape(stop, outcome) {
  if (stop === "collapsed") return svg("path", { class: "bar", d: "M-7 0H7" });
  const shape =
    outcome === "error"
      ? svg("path", { class: "shape", d: "M0 -8.5L8 6H-8Z" })
      : outcome === "failed" || outcome === "censored"
        ? svg("rect", { class: "shape", x: -6.5, y: -6.5, width: 13, height: 13, rx: 2.5 })
        : svg("circle", { class: "shape", r: 7.5 });
  return [shape, svg("path", { class: "glyph", d: GLYPHS[stop] ?? GLYPHS.user_ended })];
}
