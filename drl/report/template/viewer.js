// Addresses and pages: `#` is the overview, `#task=ID&trial=0&node=17&tab=dialogue` a place in a
// tree. Other tools may link to any of them.

const page = document.getElementById("page");
let current = null;
let turn = 0;

function taskAddress(position) {
  const { task, trial } = INDEX[position];
  return `#${new URLSearchParams({ task, trial })}`;
}

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const whole = (name) => (/^\d+$/.test(given.get(name) ?? "") ? Number(given.get(name)) : null);
  return { task: given.get("task"), trial: whole("trial"), node: whole("node"), tab: given.get("tab") };
}

async function open() {
  turn += 1;
  const mine = turn;
  const { task, trial, node, tab } = readAddress();
  if (task === null) return showOverview(null);
  const position = findRow(task, trial);
  if (position < 0) return showOverview(`This report has no task ${task}${trial === null ? "" : `, trial ${trial}`}.`);
  if (!canUnpack) {
    return showOverview(
      "This browser cannot unpack the trees: it has no DecompressionStream (Chrome and Edge from 80, " +
        "Firefox from 113, Safari from 16.4). The overview works; open the file in a newer browser to see the trees.",
    );
  }
  if (current?.position === position) return current.view.start(node, tab);
  let stored;
  try {
    stored = await readTree(position);
  } catch (error) {
    return showOverview(`The tree of task ${task} cannot be unpacked: ${error.message}.`);
  }
  if (mine === turn) showTask(position, stored, node, tab);
}

function showOverview(message) {
  current = null;
  document.body.className = "on-overview";
  page.replaceChildren(overviewPage(message));
  document.title = TITLE;
  window.scrollTo(0, 0);
}

function showTask(position, stored, nodeId, tab) {
  const model = buildTree(stored, INDEX[position]);
  const view = taskPage(INDEX[position], model, {
    replaceAddress: (node, name) => {
      const more = node === null ? {} : { node, tab: name };
      const place = new URLSearchParams({ task: INDEX[position].task, trial: INDEX[position].trial, ...more });
      history.replaceState(null, "", `#${place}`);
    },
  });
  current = { position, view };
  document.body.className = "on-task";
  page.replaceChildren(view.element);
  document.title = `${visible(INDEX[position].task)} · ${TITLE}`;
  view.start(nodeId, tab);
  window.scrollTo(0, 0);
}

function onKey(event) {
  const typing = event.target.closest?.("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
  if (current === null) {
    if (event.key !== "/") return;
    document.getElementById("search")?.focus();
    event.preventDefault();
    return;
  }
  const step = { "[": ".steps a:first-child", "]": ".steps a:last-child" }[event.key];
  if (step) document.querySelector(step)?.click();
  else if (event.key === "Escape") location.hash = "";
  else if (current.view.press(event.key)) event.preventDefault();
}

window.addEventListener("hashchange", open);
window.addEventListener("keydown", onKey);
open();
