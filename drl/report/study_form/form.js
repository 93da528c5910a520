// The pages of the form: who you are, one page an item, and the file to send back. Text only ever
// becomes a text node.

const study = JSON.parse(document.getElementById("study").textContent);
const page = document.getElementById("page");

/** An element; `on` holds listeners, and false or null children are left out. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value !== false && value !== null) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...kept(children));
  return element;
}

function kept(children) {
  return children.flat().filter((child) => child !== false && child !== null);
}

function button(text, action, attributes) {
  return make("button", { type: "button", on: { click: action }, ...attributes }, text);
}

function show(kind, ...children) {
  page.replaceChildren(...kept(children));
  document.body.className = kind;
  scrollTo(0, 0);
}

/** Choices kept in the browser, so that a closed window loses nothing; some browsers keep none. */
const store = {
  name: (rater) => `drl-study-${study.form}-${rater}`,
  read(rater) {
    try {
      return JSON.parse(localStorage.getItem(this.name(rater))) ?? {};
    } catch {
      return {};
    }
  },
  write(rater, choices) {
    try {
      localStorage.setItem(this.name(rater), JSON.stringify(choices));
    } catch {
      document.body.dataset.unsaved = "true";
    }
  },
};

function welcome() {
  const numbers = Array.from({ length: study.raters }, (_, i) => String(i + 1));
  const select = make(
    "select",
    { id: "rater" },
    make("option", { value: "" }, "choose"),
    numbers.map((number) => make("option", { value: number }, number)),
  );
  const start = button("Start", () => select.value && begin(select.value), { id: "start" });
  show(
    "on-welcome",
    make("h1", {}, "Which answer is better?"),
    make(
      "p",
      {},
      `You will see ${study.items.length} conversations that break off, and answers that could ` +
        "come next. For each question choose the answer that you find better, or no difference. " +
        "There is no right or wrong. Answers come in random order.",
    ),
    make(
      "p",
      {},
      "Your choices stay in this browser until you save them as a file at the end and send it " +
        "back. Nothing is sent by itself.",
    ),
    make("p", {}, make("label", { for: "rater" }, "Your number as a rater: "), select, " ", start),
  );
}

function begin(rater) {
  const items = itemsFor(study, rater);
  const choices = store.read(rater);
  const first = items.findIndex(({ item }) => openIn(study, choices, item) > 0);
  open({ rater, items, choices }, first < 0 ? items.length : first);
}

function open(state, at) {
  if (at >= state.items.length) finish(state);
  else judge(state, at);
}

function judge(state, at) {
  const { item, context, candidates, order } = state.items[at];
  const turns = context.map(({ role, content }) =>
    make("div", { class: "turn" }, make("b", {}, `${role}: `), make("span", { dir: "auto" }, content)),
  );
  const answers = order.map((letter, i) =>
    make(
      "section",
      { class: "answer" },
      make("h2", {}, `Answer ${i + 1}`),
      make("p", { dir: "auto" }, candidates[letter] || "(says nothing)"),
    ),
  );
  show(
    "on-item",
    make("p", { class: "place" }, `${at + 1} of ${state.items.length}`),
    make("div", { class: "context" }, turns.length ? turns : "(the conversation begins here)"),
    make("div", { class: "answers" }, answers),
    Object.entries(study.criteria).map(([name, text]) => question(state, item, order, name, text)),
    make(
      "nav",
      {},
      at > 0 && button("Back", () => open(state, at - 1), { id: "back" }),
      button("Next", () => open(state, at + 1), { id: "next" }),
    ),
  );
}

function question(state, item, order, name, text) {
  const options = [...order.map((letter, i) => [letter, `Answer ${i + 1}`]), ["tie", "No difference"]];
  const pick = (value) => {
    state.choices[item] = { ...state.choices[item], [name]: value };
    store.write(state.rater, state.choices);
  };
  return make(
    "fieldset",
    {},
    make("legend", {}, text),
    options.map(([value, label]) =>
      make(
        "label",
        {},
        make("input", {
          type: "radio",
          name,
          value,
          checked: state.choices[item]?.[name] === value,
          on: { change: () => pick(value) },
        }),
        label,
      ),
    ),
  );
}

function finish(state) {
  const unfinished = state.items.flatMap(({ item }, at) => {
    const missing = openIn(study, state.choices, item);
    return missing ? [[at, missing]] : [];
  });
  const content = JSON.stringify(sheetOf(study, state.rater, state.items, state.choices), null, 1);
  const file = new Blob([content], { type: "application/json" });
  show(
    "on-finish",
    make("h1", {}, unfinished.length ? "Not quite done" : "Thank you"),
    unfinished.length > 0 &&
      make(
        "p",
        { class: "warning" },
        `${unfinished.length} conversations have open questions: `,
        unfinished.map(([at, missing]) =>
          button(`${at + 1} (${missing})`, () => open(state, at), { class: "link" }),
        ),
      ),
    make("p", {}, "Save your answers and send the file back to whoever gave you this form."),
    make(
      "nav",
      {},
      button("Back", () => open(state, state.items.length - 1), { id: "back" }),
      make(
        "a",
        {
          id: "save",
          class: "button",
          href: URL.createObjectURL(file),
          download: `answers-${study.form}-${state.rater}.json`,
        },
        "Save answers",
      ),
    ),
  );
}

welcome();
