// The page of a turn reward model, from what must be known first to the numbers of the run.

function warningsSection() {
  const failed = PICTURES.controls.filter(({ holds }) => !holds);
  if (PICTURES.warnings.length + failed.length === 0) return null;
  return html(
    "div",
    { class: "warnings", role: "note" },
    failed.map(({ words }) => html("p", { class: "notice failed" }, words)),
    PICTURES.warnings.map((words) => html("p", { class: "notice" }, words)),
  );
}

function controlsSection() {
  if (PICTURES.controls.length === 0) return null;
  const line = ({ words, holds }) => html("li", null, chip(holds ? "holds" : "failed", holds ? "positive" : "negative"), html("span", null, words));
  return html(
    "section",
    null,
    html("h2", null, "Controls"),
    html("p", { class: "quiet" }, "Methods that were trained on data in which a signal was destroyed."),
    html("ul", { class: "controls" }, PICTURES.controls.map(line)),
  );
}

document.getElementById("page").replaceChildren(
  html(
    "div",
    { class: "overview" },
    summaryHead(),
    warningsSection(),
    methodsSection(),
    controlsSection(),
    calibrationSection(),
    sessionSection(),
    curveCharts(),
    summaryTables(),
  ),
);
document.body.className = "on-overview";
