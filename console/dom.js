// @ts-check
/** Elements from data. Text only ever becomes text nodes: source code and names are never read as HTML. */

/** @typedef {Node | string | number | null | undefined} Child */

/**
 * An element.
 * @param {string} tag
 * @param {Record<string, unknown>} [properties] Attributes; `class` too; functions listen to events (`onclick`).
 * @param {...(Child | readonly Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, properties, children);
  return element;
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...(Child | readonly Child[])} children
 * @returns {SVGElement}
 */
export function s(tag, properties = {}, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", tag));
  fill(element, properties, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Record<string, unknown>} properties
 * @param {readonly (Child | readonly Child[])[]} children
 */
function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child instanceof Node ? child : String(child));
}

/**
 * Show these instead of what an element holds.
 * @param {Element} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  element.replaceChildren();
  fill(element, {}, children);
}

/** @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`no element ${id}`);
  return found;
}

/** The address of a node's page. @param {string} node */
export function nodeAddress(node) {
  return `#/node/${encodeURIComponent(node)}`;
}

/**
 * A link to a node's page.
 * @param {string} node
 * @param {string} [shown]
 */
export function nodeLink(node, shown) {
  return h("a", { href: nodeAddress(node), class: "code" }, shown ?? node);
}

/**
 * A list of links to nodes, of which the first ones are shown at once.
 * @param {readonly string[]} nodes
 * @param {string} nothing What is said when there are none.
 */
export function nodeList(nodes, nothing, most = 30) {
  if (nodes.length === 0) return h("p", { class: "quiet" }, nothing);
  const items = nodes.map((node) => h("li", {}, nodeLink(node)));
  const list = h("ul", { class: "plain" }, items.slice(0, most));
  if (items.length <= most) return list;
  const more = h("button", { type: "button", onclick: () => { more.remove(); list.append(...items.slice(most)); } }, `${items.length - most} more`);
  return h("div", {}, list, more);
}

/**
 * A table.
 * @param {readonly string[]} heads A head that begins with `#` stands over numbers.
 * @param {readonly (readonly (Child)[])[]} rows
 * @param {string} nothing
 */
export function table(heads, rows, nothing) {
  if (rows.length === 0) return h("p", { class: "quiet" }, nothing);
  const kinds = heads.map((head) => (head.startsWith("#") ? "number" : ""));
  const top = h("tr", {}, heads.map((head, place) => h("th", { class: kinds[place], scope: "col" }, head.replace(/^#/, ""))));
  const body = rows.map((row) => h("tr", {}, row.map((cell, place) => h("td", { class: kinds[place] }, cell))));
  return h("table", {}, h("thead", {}, top), h("tbody", {}, body));
}

/** @param {Record<string, Child>} figures */
export function figuresList(figures) {
  return h("dl", { class: "figures" }, Object.entries(figures).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** A time of the server in the reader's own zone. @param {string} moment */
export function moment(moment) {
  return h("time", { datetime: moment, title: moment }, new Date(moment).toLocaleString());
}
