// The words of the report: what branches turn out to be, why they stop, how numbers are read.

const IS_ALONE = SUMMARY.search === false; // dialogues tried alone, without a search
const BRANCH = IS_ALONE ? "dialogue" : "branch";

const OUTCOMES = IS_ALONE ? {
  successful: "graded in full, or earned a reward and was not graded 0",
  failed: "came to its own end without a reward, or was graded 0",
  censored: "cut before it could succeed or fail",
  error: "broke for a technical reason; never scored",
} : {
  golden: "the branch the search went on with",
  successful: "earned a reward, but the search went on with another branch",
  failed: "came to its own end without a reward",
  censored: "cut before it could succeed or fail",
  error: "broke for a technical reason; never scored",
};

const STOPS = {
  goals_reached: { short: "all goals reached", long: "no goal was left open" },
  user_ended: { short: "customer hung up", long: "the customer ended the dialogue" },
  max_turns: { short: "out of turns", long: "the limit on turns was reached" },
  collapsed: { short: "cut by a collapse", long: "a sibling earned a reward, so this branch was cut" },
  context_overflow: {
    short: "outgrew the model",
    long: "the dialogue became longer than a model can read",
  },
  budget: { short: "out of budget", long: "the budget of agent calls was spent" },
  error: { short: "broke", long: "a technical error ended the dialogue" },
};

const GOAL_STATES = {
  hit: "reached",
  elsewhere: "reached on another branch only",
  missed: "missed",
};

const LABELS = {
  pass_hat_k: "pass^k: all of k tries succeed",
  per_domain: "Goals reached, by domain",
  per_goal_kind: "Goals reached, by kind",
  per_group: "Mean reward, by group of tasks",
  floor: "Score of doing nothing",
  metrics: "Measures beside the reward",
  error_causes: "Causes of errors",
  modes: "Set-up",
  calls: "Model calls, by purpose and model",
  usd: "US dollars",
  mt_bench: "MT-Bench",
  ratings: "Ratings, from 1 to 10",
  comparisons: "Comparisons with the baseline",
  both: "Both turns",
  llm: "Model",
  user_llm: "Customer's model",
  tokens_cached: "Of these cached",
  cached_samples: "Answers from the cache",
  last_kl: "Last KL from the start (estimated from samples, so it may be below 0)",
  "episode/score": "Score of a dialogue",
  "objective/kl": "KL from the start (k1, may be below 0)",
  kl: "KL from the start (k3)",
  "policy/entropy_avg": "Entropy, nats a token",
  entropy: "Entropy, nats a token",
  "val/explained_variance": "Variance that values explain",
};

/** A key of JSON as a label: `mean_reward` reads "Mean reward"; other text stays as it is. */
function label(key) {
  if (Object.hasOwn(LABELS, key)) return LABELS[key];
  if (!/^[a-z][a-z0-9_]*$/.test(key)) return String(key);
  const words = key.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A number as people write it; shares keep three decimals. */
function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  if (Math.abs(value) < 0.0005) return value.toPrecision(2);
  if (Math.abs(value) <= 1) return value.toFixed(3);
  return value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
}

/** A score with at most two decimals. */
function score(value) {
  return String(Number(value.toFixed(2)));
}

function duration(seconds) {
  if (seconds < 60) return `${number(Math.round(seconds * 10) / 10)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function plural(count, noun) {
  const ending = noun.endsWith("ch") ? "es" : "s";
  return `${number(count)} ${noun}${count === 1 ? "" : ending}`;
}
