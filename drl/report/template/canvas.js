// The pane that holds a tree: pan by dragging or scrolling, zoom by pinch, ctrl + wheel or buttons.

const SCALE = { least: 0.25, readable: 0.6, fit: 1.4, most: 2.5 };

/** A pane around a drawing. Returns { element, redraw, reveal, mark }; draw it once it is in place. */
function treeCanvas(model, choose) {
  const hasContinuations = model.nodes.some((node) => node.continuation);
  const view = { x: 0, y: 0, scale: 1, moved: false, continuations: hasContinuations };
  const surface = svg("svg", {
    class: "surface",
    role: "img",
    "aria-label": `Tree of ${plural(model.nodes.length, "turn")}; arrow keys walk it`,
  });
  let bounds = null;
  let drawing = null;
  let marked = null;

  const apply = () =>
    drawing.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);

  function redraw() {
    bounds = placeTree(model, view.continuations, LANE.least);
    const lane = roomyLane();
    if (lane > LANE.least) bounds = placeTree(model, view.continuations, lane);
    drawing = drawTree(model, bounds, view.continuations, choose);
    surface.replaceChildren(drawing);
    if (marked) mark(marked);
    fit();
  }

  /** Lanes as wide as the pane allows at the scale that its height asks for. */
  function roomyLane() {
    const { width, height } = surface.getBoundingClientRect();
    const scale = Math.min(SCALE.fit, Math.max(SCALE.readable, height / (bounds.bottom + 78)));
    const stretch = width / scale / (bounds.right - bounds.left + 110);
    return Math.min(LANE.most, Math.max(LANE.least, LANE.least * stretch));
  }

  /** All of the tree in sight, if it stays readable; else its top. */
  function fit() {
    const { width, height } = surface.getBoundingClientRect();
    if (!width) return;
    const [across, down] = [bounds.right - bounds.left + 92, bounds.bottom + 78];
    view.scale = Math.min(SCALE.fit, Math.max(SCALE.readable, Math.min(width / across, height / down)));
    const slack = width - across * view.scale;
    view.x = Math.max(slack / 2, 0) + (54 - bounds.left) * view.scale;
    view.y = 30 * view.scale + Math.min(Math.max(0, (height - down * view.scale) / 2), 24);
    view.moved = false;
    apply();
  }

  function zoom(factor, at) {
    const scale = Math.min(SCALE.most, Math.max(SCALE.least, view.scale * factor));
    const box = surface.getBoundingClientRect();
    const [x, y] = at ? [at.x - box.left, at.y - box.top] : [box.width / 2, box.height / 2];
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    view.moved = true;
    apply();
  }

  function pan(dx, dy) {
    view.x += dx;
    view.y += dy;
    view.moved = true;
    apply();
  }

  /** Moves the view only as far as needed to bring a node into sight. */
  function reveal(node) {
    const { width, height } = surface.getBoundingClientRect();
    const margin = Math.min(60, width / 5, height / 5);
    const [x, y] = [view.x + node.x * view.scale, view.y + node.y * view.scale];
    view.x += Math.max(margin - x, 0) - Math.max(x - (width - margin), 0);
    view.y += Math.max(margin - y, 0) - Math.max(y - (height - margin), 0);
    apply();
  }

  /** Rings a node and traces the way to it. */
  function mark(node) {
    marked = node;
    surface.querySelector(".node.selected")?.classList.remove("selected");
    surface.querySelector(`[data-node="${node.id}"]`)?.classList.add("selected");
    const path = pathTo(model.nodes, node).slice(1);
    const traces = path.map((to) => svg("path", { d: edgePath(model.nodes[to.parent], to) }));
    surface.querySelector(".halo").replaceChildren(...traces);
  }

  function toggleContinuations(event) {
    view.continuations = event.target.checked;
    redraw();
  }

  listenToPointers(surface, pan, zoom);
  const element = html(
    "div",
    { class: "canvas" },
    surface,
    html(
      "div",
      { class: "canvas-tools" },
      hasContinuations &&
        html(
          "label",
          null,
          html("input", { type: "checkbox", checked: true, on: { change: toggleContinuations } }),
          "continuations",
        ),
      toolButton("−", "Zoom out", () => zoom(0.8)),
      toolButton("+", "Zoom in", () => zoom(1.25)),
      toolButton("Fit", "Fit the tree", fit),
    ),
  );
  new ResizeObserver(() => {
    if (!view.moved) redraw();
    if (marked) reveal(marked);
  }).observe(element);
  return { element, redraw, reveal, mark };
}

function toolButton(text, name, action) {
  return html("button", { type: "button", "aria-label": name, title: name, on: { click: action } }, text);
}

/** One pointer pans, two pinch; the wheel scrolls, with ctrl it zooms. */
function listenToPointers(surface, pan, zoom) {
  const pointers = new Map();
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return { distance: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  };
  surface.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  surface.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const pinch = pointers.size === 2 ? spread() : null;
    const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
    // A press that hardly moves is a click on a node, so the pointer is caught only after that.
    if (!pinch && !surface.hasPointerCapture(event.pointerId) && Math.hypot(dx, dy) < 4) return;
    surface.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (pinch) zoom(spread().distance / pinch.distance, spread());
    else pan(dx, dy);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
    surface.addEventListener(end, (event) => pointers.delete(event.pointerId));
  }
  surface.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      if (event.ctrlKey) zoom(Math.exp(-event.deltaY / 200), { x: event.clientX, y: event.clientY });
      else pan(-event.deltaX, -event.deltaY);
    },
    { passive: false },
  );
}
