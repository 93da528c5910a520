// Elements from tags, attributes and children. Text only ever becomes a text node: nothing in
// this report parses data as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. `on` holds listeners; null and false attributes and children are left out. */
function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element, as `html`. */
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...asNodes(children));
  return element;
}

/** Children as nodes: lists flattened, null and false left out, all else as text. */
function asNodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(visible(child))));
}

/** Text with control characters made visible; line breaks and tabs stay. */
function visible(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421");
}

/** A stretch of foreign text: its own writing direction, line breaks kept. */
function prose(text, className = "prose") {
  return html("div", { class: className, dir: "auto" }, text);
}

/** Attributes that make an element a button for mouse and keyboard. */
function pressable(action, name) {
  const press = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    action();
  };
  return { role: "button", tabindex: 0, "aria-label": name, on: { click: press, keydown: press } };
}

function chip(text, kind = "") {
  return html("span", { class: `chip ${kind}` }, text);
}

function notice(text) {
  return html("p", { class: "notice", role: "status" }, text);
}

const measure = document.createElement("canvas").getContext("2d");

/** Width of a label in pixels. */
function textWidth(text, font) {
  measure.font = font;
  return measure.measureText(text).width;
}
