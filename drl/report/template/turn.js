// One turn in full: what its side planned, called and got back, what it said, what it earned.

/** The parts of a turn. `compact` leaves out raw text and shortens results to one line. */
function turnBody(model, node, compact = false) {
  const { turn } = node;
  const steps = turn.steps.map((step, position) => stepView(node, step, position, compact));
  return [
    ...steps,
    turn.text !== null && turn.text !== "" && bubble(node),
    turn.text === null && html("p", { class: "quiet" }, "The turn goes on in the next node."),
    turn.failure &&
      html(
        "div",
        { class: "failure" },
        html("strong", null, `Broke in ${turn.failure.stage}`),
        prose(turn.failure.cause),
      ),
    !compact && node.events.length + node.unscored.length > 0 && eventList(model, node),
  ];
}

function bubble(node) {
  return html("div", { class: `bubble ${node.turn.role}`, dir: "auto" }, node.turn.text);
}

function stepView(node, step, position, compact) {
  const calls = step.calls ?? [];
  const bare = !step.plan && !calls.length;
  if (bare && (compact || step.text === node.turn.text || !step.text)) return null;
  return html(
    "section",
    { class: "step" },
    step.plan && html("div", { class: "plan" }, html("span", { class: "tag" }, "Plan"), prose(step.plan)),
    calls.map((call, place) => {
      const earned = node.events.some(
        ({ detail }) => detail?.step === position && detail?.call === place,
      );
      return callView(call, step.results?.[place], earned, compact);
    }),
    !compact && step.text && html(
      "details",
      { class: "raw" },
      html("summary", null, "as written"),
      html("pre", { dir: "auto" }, step.text),
    ),
  );
}

function callView(call, result, earned, compact) {
  const head = html(
    "div",
    { class: "call-line" },
    html("span", { class: "call-name" }, call.name),
    Object.entries(call.arguments ?? {}).map(([name, value]) =>
      html(
        "span",
        { class: "argument" },
        html("span", { class: "argument-name" }, name),
        html("bdi", null, scalarText(value)),
      ),
    ),
    earned && html("span", { class: "earned", title: "This call earned a reward" }, "★"),
  );
  return html("div", { class: `call${earned ? " rewarded" : ""}` }, head, result && resultView(result, compact));
}

function resultView(result, compact) {
  if (result.error) {
    return html("div", { class: "result wrong" }, html("span", { class: "tag" }, "Error"), prose(result.error));
  }
  if (compact) return html("div", { class: "result brief", dir: "auto" }, briefly(result.value));
  return html("div", { class: "result" }, valueView(result.value));
}

/** A short reading of a result: the first fields of the first record. */
function briefly(value) {
  if (Array.isArray(value) && value.length === 0) return "no results";
  const record = Array.isArray(value) ? value[0] : value;
  const text = isRecord(record) ? Object.values(record).map(scalarText).join(" · ") : scalarText(value);
  return text.length > 140 ? `${text.slice(0, 140)} …` : text;
}

/** JSON by its shape: flat records as lists of fields, all else indented. */
function valueView(value) {
  if (Array.isArray(value) && value.length === 0) return html("span", { class: "quiet" }, "no results");
  const record = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (isRecord(record)) return fieldList(record);
  if (record === null || typeof record !== "object") return prose(scalarText(record));
  return html("pre", { dir: "auto" }, JSON.stringify(value, null, 2));
}

function fieldList(record) {
  const fields = Object.entries(record);
  if (!fields.length) return html("span", { class: "quiet" }, "empty");
  return html(
    "dl",
    { class: "fields" },
    fields.map(([name, value]) => [
      html("dt", null, name),
      html("dd", { dir: "auto" }, scalarText(value)),
    ]),
  );
}

function scalarText(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Goals by their kind; the rest of an event's detail as it stands. What could not be scored last. */
function eventList(model, node) {
  return html(
    "ul",
    { class: "events" },
    node.events.map((event) => {
      const goal = model.goals[event.detail?.goal];
      const rest = Object.entries(event.detail ?? {}).filter(([key]) => !(goal && Object.hasOwn(EVENT_SHOWN, key)));
      return html(
        "li",
        null,
        html("span", { class: "star" }, "★"),
        html("strong", null, signed(event.amount)),
        html("span", null, goal ? goal.kind : event.source),
        detailView(rest),
      );
    }),
    node.unscored.map(({ source, cause, ...rest }) =>
      html("li", null, html("strong", null, "unscored"), html("span", null, `${source}: ${cause}`), detailView(Object.entries(rest))),
    ),
  );
}

const LONG_DETAIL = 80; // characters; longer texts, such as judgments, are opened one by one

function detailView(fields) {
  const isLong = ([, value]) => typeof value === "string" && (value.length > LONG_DETAIL || value.includes("\n"));
  const short = fields.filter((field) => !isLong(field));
  return [
    short.length > 0 && html("span", { class: "quiet" }, short.map(([k, v]) => `${k} ${scalarText(v)}`).join(" · ")),
    fields.filter(isLong).map(([key, value]) => html("details", { class: "raw" }, html("summary", null, label(key)), html("pre", { dir: "auto" }, value))),
  ];
}

const EVENT_SHOWN = { goal: true, kind: true, step: true, call: true };

function signed(amount) {
  return `${amount > 0 ? "+" : ""}${score(amount)}`;
}
