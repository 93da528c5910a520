// Calibration: sessions that a method tells about the same score, and what their true score was.

function calibrationSection() {
  // who tells the same of all sessions has one bin, which shows nothing
  const charts = Object.entries(PICTURES.calibration).filter(([, bins]) => bins.length > 1);
  if (charts.length === 0) return null;
  return html(
    "section",
    { class: "calibration" },
    html("h2", null, "Calibration of the session score"),
    html("p", { class: "quiet" }, "Across: the score that is told, in bins of equally many sessions. Up: their mean true score with its 95 % interval. Dashed: what is told is true."),
    html("div", { class: "charts" }, charts.map(([name, bins]) => calibrationChart(name, bins))),
  );
}

function calibrationChart(name, bins) {
  const points = bins.map(({ told, true: true_ }) => ({ x: told, y: true_.value, low: true_.low, high: true_.high, n: true_.n }));
  const axes = axesOf(points);
  const place = ({ x, y, low, high, n }) => [
    svg("title", null, `told ${number(x)}, true ${flat({ value: y, low, high })}; ${plural(n, "conversation")}`),
    svg("line", { class: "span", x1: axes.x.at(x), x2: axes.x.at(x), y1: axes.y.at(low), y2: axes.y.at(high) }),
    svg("circle", { class: "true", cx: axes.x.at(x), cy: axes.y.at(y), r: 4 }),
  ];
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": `${name}: true score by told score, ${plural(points.length, "bin")}` },
    axisMarks(axes, "told score"),
    identity(points, axes),
    points.map((point) => svg("g", null, place(point))),
  );
  return html("figure", { class: "chart" }, html("figcaption", { dir: "auto" }, name), drawing);
}

/** The part of the line of equal scores that the chart shows. */
function identity(points, axes) {
  const across = points.map(({ x }) => x);
  const low = Math.max(Math.min(...across), axes.y.marks[0]);
  const high = Math.min(Math.max(...across), axes.y.marks[axes.y.marks.length - 1]);
  if (low >= high) return null;
  return svg("line", { class: "right", x1: axes.x.at(low), x2: axes.x.at(high), y1: axes.y.at(low), y2: axes.y.at(high) });
}
