// Orders that depend on the form and on the rater alone, so that a reload shows the same ones.

/** Numbers in [0, 1) from a text: the text hashed (FNV-1a), then Mulberry32. */
function randomFrom(text) {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A shuffled copy (Fisher and Yates). */
function shuffled(list, random) {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

/** The items as a rater sees them: `[{item, context, candidates, order}]`, order being letters. */
function itemsFor(study, rater) {
  return shuffled(study.items, randomFrom(`${study.form} ${rater} items`)).map((item) => ({
    ...item,
    order: shuffled(
      Object.keys(item.candidates).sort(),
      randomFrom(`${study.form} ${rater} ${item.item}`),
    ),
  }));
}

/** What the rater's file holds; items without any choice are left out. */
function sheetOf(study, rater, items, choices) {
  const answers = {};
  for (const { item, order } of items) {
    if (choices[item] && Object.keys(choices[item]).length > 0) {
      answers[item] = { order, choices: choices[item] };
    }
  }
  return { form: study.form, rater, answers };
}

/** How many choices are open in an item. */
function openIn(study, choices, item) {
  return Object.keys(study.criteria).filter((name) => !choices[item]?.[name]).length;
}
