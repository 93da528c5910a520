// Where each node goes. Time runs down, one row a node; the first child stands straight below its
// parent, the others to the right, so that the golden branch is a straight trunk. Subtrees are
// packed by their outlines, row by row, and no line crosses another.

const LANE = { least: 36, most: 62 };
const ROW = 28;
const BADGE_FONT = "600 11px Inter, system-ui, sans-serif";

/** Gives nodes x and y, lanes `lane` apart; returns { left, right, bottom } of what is drawn. */
function placeTree(model, withContinuations, lane) {
  const outlines = new Map();
  for (const node of [...model.nodes].reverse()) {
    if (node.continuation && !withContinuations) continue;
    const shown = shownChildren(node, withContinuations);
    const children = shown.map((child) => [child, outlines.get(child)]);
    children.forEach(([child]) => outlines.delete(child));
    outlines.set(node, outlineOf(node, children, lane));
  }
  const roots = model.roots.map((root) => [root, outlines.get(root)]);
  const outline = pack(roots, lane, lane * 0.6);
  for (const node of model.nodes) {
    if (node.parent !== null) node.x = model.nodes[node.parent].x + (node.offset ?? 0);
    else node.x = node.offset;
    node.y = node.depth * ROW;
  }
  return {
    left: Math.min(0, ...outline.map((row) => row.left)),
    right: Math.max(0, ...outline.map((row) => row.right)),
    bottom: Math.max(0, outline.length - 1) * ROW,
  };
}

function shownChildren(node, withContinuations) {
  return node.children.filter((child) => withContinuations || !child.continuation);
}

/** Rows of a subtree, each with how far it reaches left and right of the node's own x. */
function outlineOf(node, children, lane) {
  const below = pack(children, lane, lane * 0.4);
  const badge = badgeOf(node);
  const own = { left: -11, right: 11 };
  if (badge && badge.onLeft) own.left = -BADGE_GAP - badge.width;
  else if (badge) own.right = BADGE_GAP + badge.width;
  const score = scoreOf(node);
  if (score) own.right = Math.max(own.right, SCORE_GAP + score.width - 4);
  // A branch leaves sideways in the row of its parent: keep that stretch of the row free.
  for (const [child] of children) own.right = Math.max(own.right, child.offset - lane * 0.5 + 11);
  below.unshift(own);
  return below;
}

const BADGE_GAP = 17;
const SCORE_GAP = 12;

/** The label of a node that reached goals; a fork needs its right side for its branches. */
function badgeOf(node) {
  const kinds = node.reachedKinds;
  if (!kinds.length) return null;
  const full = kinds.length > 2 ? `${kinds[0]} + ${kinds.length - 1} more` : kinds.join(" + ");
  const text = full.length > 48 ? `${full.slice(0, 46)} …` : full;
  const onLeft = node.golden || node.children.length > 1;
  return { text, width: textWidth(text, BADGE_FONT) + 16, onLeft };
}

/** The label of an end: its score, unless a collapse cut it short of one that means something. */
function scoreOf(node) {
  if (node.score === null || node.stop === null || (node.stop === "collapsed" && !node.best)) return null;
  const text = node.best ? `score ${score(node.score)}` : score(node.score);
  return { text, width: textWidth(text, BADGE_FONT) + (node.best ? 14 : 0) };
}

/** Sets each subtree as far left as its outline allows; sets `offset` and returns the outline. */
function pack(subtrees, lane, gap) {
  const outline = [];
  subtrees.forEach(([node, rows], position) => {
    let x = 0;
    if (position > 0) {
      rows.forEach((row, depth) => {
        if (outline[depth]) x = Math.max(x, outline[depth].right + gap - row.left);
      });
      x = Math.max(x, subtrees[position - 1][0].offset + lane);
    }
    node.offset = x;
    rows.forEach((row, depth) => {
      const shifted = { left: row.left + x, right: row.right + x };
      if (outline[depth]) {
        outline[depth].left = Math.min(outline[depth].left, shifted.left);
        outline[depth].right = Math.max(outline[depth].right, shifted.right);
      } else outline[depth] = shifted;
    });
  });
  return outline;
}

/** The rows in which an agent speaks, numbered by turn; null where rows mix the two sides. */
function turnRows(model) {
  const roles = [];
  for (const node of model.nodes) {
    if (node.turn.text === null) return null;
    roles[node.depth] ??= node.turn.role;
    if (roles[node.depth] !== node.turn.role) return null;
  }
  return roles.flatMap((role, depth) => (role === "agent" ? [depth] : []));
}
