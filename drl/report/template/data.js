// The data islands of the page: summary and index as JSON, each tree as base64 of gzip.

const { title: TITLE, summary: SUMMARY } = readIsland("summary");
const INDEX = readIsland("index");
INDEX.forEach((row, position) => {
  row.position = position;
});

function readIsland(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

function isRecord(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

const canUnpack = "DecompressionStream" in window;
const opened = new Map();

/** The stored tree and its card at a position of the index; the last few stay unpacked. */
async function readTree(position) {
  if (!opened.has(position)) {
    opened.set(position, unpack(document.getElementById(`tree-${position}`).textContent));
    if (opened.size > 8) opened.delete(opened.keys().next().value);
  }
  return opened.get(position);
}

async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** Position of a (task, trial); the first trial where none is named; -1 where there is none. */
function findRow(task, trial) {
  return INDEX.findIndex((row) => row.task === task && (trial === null || row.trial === trial));
}
