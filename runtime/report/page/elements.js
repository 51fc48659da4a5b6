// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements of the page. Text from the report only ever becomes text nodes or attributes: names are not markup.

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter(child => child !== undefined && child !== null && child !== ""));
  return made;
}

let sectionNumber = 0;

// A part of the page: heading, one sentence on this run, and what `fill` puts into its body.
function section(id, title, sentence, ...children) {
  const number = ++sectionNumber;
  const part = element("section", {id, "aria-labelledby": `${id}-title`},
    element("h2", {id: `${id}-title`}, element("span", {class: "number", "aria-hidden": "true"}, `${number}`), title),
    element("p", {class: "sentence"}, sentence), ...children);
  document.getElementById("main").append(part);
  return part;
}

// Of `umwelt run`: what gives the data of a part.
const OPTIONS = {calls: "--mpi-calls", links: "--report-details", timeline: "--report-details",
  path: "--report-details"};

// What a part says that has no data.
function missing(id, title, what, option) {
  return section(id, title, element("span", {class: "missing"}, `${what} To see it, run again with `,
    element("code", {}, option), "."));
}

function heading(text) {
  return element("h3", {}, text);
}

// A table behind a chart. columns: {title, number, show}; rows: arrays. The rest of long ones is in the JSON.
function table(caption, columns, rows, most = 200) {
  const shown = rows.slice(0, most);
  const numeric = column => (column.text ? undefined : "number");
  const show = (column, value) => (column.show && value !== undefined && value !== null ? column.show(value) : value);
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    element("table", {},
      element("caption", {}, rows.length > most
        ? `${caption}: first ${showCount(most)} of ${showCount(rows.length)}, the rest in the JSON` : caption),
      element("thead", {}, element("tr", {}, columns.map((column, i) =>
        element("th", {scope: "col", class: i ? numeric(column) : undefined}, column.title)))),
      element("tbody", {}, shown.map(row => element("tr", {}, columns.map((column, i) =>
        element(i === 0 ? "th" : "td", {scope: i === 0 ? "row" : undefined,
          class: i ? numeric(column) : undefined},
          row[i] instanceof Node ? row[i] : String(show(column, row[i]) ?? "–"))))))));
}

// Filled when it is opened: tables of thousands of ranks cost nothing until then.
function tableBehind(summary, caption, columns, rows, most) {
  const details = element("details", {class: "behind"}, element("summary", {}, summary));
  const fill = () => {
    if (details.children.length === 1)
      details.append(table(caption, columns, typeof rows === "function" ? rows() : rows, most));
  };
  details.addEventListener("toggle", () => details.open && fill());
  details.fill = fill;
  return details;
}

// One of several, as radio buttons. options: [[value, label]...]; calls change(value).
let choiceNumber = 0;
function choice(label, options, change) {
  const name = `choice-${++choiceNumber}`;
  return element("fieldset", {class: "choice"}, element("legend", {}, label), options.map(([value, text], i) =>
    element("label", {},
      element("input", {type: "radio", name, value, checked: i === 0, onchange: () => change(value)}),
      element("span", {}, text))));
}

function legend(entries) {
  return element("ul", {class: "legend"}, entries.map(entry => element("li", {},
    element("span", {class: "swatch", style: `background: var(${entry.colour})`}), entry.name)));
}

function bar(share, colour = "--computing") {
  const width = Math.max(0, Math.min(100, 100 * share));
  return element("span", {class: "bar", "aria-hidden": "true"},
    element("span", {style: `width: ${width.toFixed(2)}%; background: var(${colour})`}));
}

// Lines of text beside the pointer.
function showTip(lines, x, y) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(...lines.map((line, i) => element(i === 0 ? "strong" : "div", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}
