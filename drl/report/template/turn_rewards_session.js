// A conversation: its agent's turns coloured by reward, beside how the listener took them.

const COURSE = { left: 76, track: 44, gap: 10, least: 900, bottom: 6 };
const STRONG = 0.5; // labels beyond are positive or negative, as in the measures

/** The section: a conversation and a method are chosen, and both are drawn. */
function sessionSection() {
  if (INDEX.length === 0) return null;
  const methods = [...new Set(INDEX.flatMap(({ told }) => Object.keys(told)))];
  const state = { session: 0, method: methods[0] };
  const body = html("div");
  const draw = () => body.replaceChildren(...asNodes([sessionView(INDEX[state.session], state.method)]));
  const pick = (name, options, choose) =>
    html("label", null, name, html("select", { on: { change: (event) => (choose(event.target.value), draw()) } }, options));
  const conversations = INDEX.map(({ id, score }, position) => html("option", { value: position }, `${short(id, 44)} · ${score === null ? "no score" : `score ${number(score)}`}`));
  draw();
  return html(
    "section",
    { class: "sessions" },
    html("h2", null, "Conversations"),
    html("p", { class: "quiet" }, sessionsNote()),
    html(
      "div",
      { class: "choices" },
      pick("Conversation", conversations, (value) => (state.session = Number(value))),
      pick("Rewards by", methods.map((name) => html("option", { value: name }, name)), (value) => (state.method = value)),
      html("span", { class: "key" }, html("i", { class: "above" }), "above this conversation's mean reward"),
      html("span", { class: "key" }, html("i", { class: "below" }), "below it"),
    ),
    body,
  );
}

function sessionsNote() {
  const all = PICTURES.num_sessions;
  const shown = all > INDEX.length ? `${INDEX.length} of ${number(all)} held-out sessions, not chosen by any result. ` : "";
  return `${shown}The reward of a turn is learned from text alone; affect is what the listener's face showed meanwhile.`;
}

function sessionView(session, method) {
  const rewards = session.turns.map((turn) => turn.rewards?.[method] ?? null);
  const known = rewards.filter((value) => value !== null);
  const mean = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
  const most = Math.max(...known.map((value) => Math.abs(value - mean)), 1e-12);
  const shares = rewards.map((value) => (value === null ? null : (value - mean) / most));
  const list = html("div", { class: "turns", tabindex: 0, "aria-label": "Turns" }, session.turns.map((turn, position) => turnRow(turn, rewards[position], shares[position])));
  const told = session.told[method];
  const scores = [
    session.score !== null && `The listener's score was ${number(session.score)}.`,
    told !== undefined && `${method} tells ${number(told)}.`,
  ].filter(Boolean);
  return [scores.length > 0 && html("p", { class: "quiet" }, scores.join(" ")), courseOf(session, shares, (position) => showTurn(list, position)), list];
}

/** Rewards, affect and, where it is known, hidden rewards of all agent turns, one below the other. */
function courseOf(session, shares, choose) {
  const places = session.turns.map((turn, position) => (turn.role === "agent" ? position : null)).filter((position) => position !== null);
  const hidden = places.map((position) => session.turns[position].hidden).filter((value) => value !== null);
  const strongest = Math.max(...hidden.map(Math.abs), 1e-12);
  const tracks = [
    { name: "reward", of: (position) => shares[position] },
    { name: "affect", of: (position) => session.turns[position].affect },
    ...(hidden.length > 0 ? [{ name: "hidden", of: (position) => (session.turns[position].hidden ?? null) === null ? null : session.turns[position].hidden / strongest }] : []),
  ];
  const width = Math.max(COURSE.least, COURSE.left + places.length * 9);
  const step = (width - COURSE.left) / Math.max(1, places.length);
  const height = tracks.length * (COURSE.track + COURSE.gap) + COURSE.bottom;
  const middle = (row) => row * (COURSE.track + COURSE.gap) + COURSE.track / 2 + 4;
  const lines = tracks.map(({ name }, row) => [
    svg("text", { x: 0, y: middle(row) + 4 }, name),
    svg("line", { class: "zero", x1: COURSE.left, x2: width, y1: middle(row), y2: middle(row) }),
  ]);
  const steps = places.map((position, order) => {
    const x = COURSE.left + order * step;
    const turn = session.turns[position];
    const name = `turn ${turn.number}: ${short(turn.text, 60)}`;
    return svg(
      "g",
      { class: "step", ...pressable(() => choose(position), name) },
      svg("title", null, name),
      svg("rect", { class: "reach", x, y: 0, width: step, height }),
      tracks.map(({ of }, row) => bar(of(position), x, step, middle(row))),
    );
  });
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "The course of the conversation" }, lines, steps);
  drawing.style.setProperty("min-width", `${Math.round(width * 0.7)}px`); // long ones scroll
  return html("div", { class: "course" }, drawing);
}

/** A share from -1 to 1 as a bar from the middle; a dot on it where nothing is known. */
function bar(share, x, step, middle) {
  const width = Math.min(18, Math.max(2, step - 3));
  const left = x + (step - width) / 2;
  if (share === null || share === undefined) return svg("circle", { class: "unseen", cx: x + step / 2, cy: middle, r: 2 });
  const height = Math.max(1, Math.min(1, Math.abs(share)) * (COURSE.track / 2));
  return svg("rect", { class: share < 0 ? "below" : "above", x: left, y: share < 0 ? middle : middle - height, width, height, rx: 1 });
}

function turnRow(turn, reward, share) {
  const row = html(
    "div",
    { class: `turn ${turn.role}${share === null ? "" : share < 0 ? " below" : " above"}` },
    html("div", { class: "when" }, clock(turn.start)),
    prose(turn.text, "bubble"),
    html("div", { class: "side" }, turn.role === "agent" && sideOf(turn, reward)),
  );
  if (share !== null) row.style.setProperty("--share", Math.abs(share).toFixed(3));
  return row;
}

function sideOf(turn, reward) {
  const cues = Object.entries(turn.cues ?? {}).map(([name, value]) => `${label(name).toLowerCase()} ${flat(value)}`);
  return [
    reward !== null && html("span", { class: "reward" }, signed(reward)),
    affectChip(turn.affect),
    turn.hidden !== null && turn.hidden !== undefined && html("span", null, ` hidden ${signed(turn.hidden)}`),
    cues.length > 0 && html("div", { dir: "auto" }, cues.join(", ")),
  ];
}

function affectChip(value) {
  if (value === null || value === undefined) return chip("listener unseen");
  if (value > STRONG) return chip("positive", "positive");
  return value < -STRONG ? chip("negative", "negative") : chip("neutral");
}

function showTurn(list, position) {
  for (const marked of list.querySelectorAll(".marked")) marked.classList.remove("marked");
  const row = list.children[position];
  row.classList.add("marked");
  list.scrollTop = row.offsetTop - list.offsetTop - list.clientHeight / 3;
}

function signed(value) {
  return `${value > 0 ? "+" : ""}${number(value)}`;
}

function clock(seconds) {
  if (seconds === null) return "";
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
