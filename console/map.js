// @ts-check
/**
 * The map of the code: communities as regions, files in them by size, heat as colour; closer up, what a file defines.
 *
 * A canvas draws only what is in view and large enough to be seen, so that the cost follows the screen and not the repository.
 */
import { figuresList, h, nodeAddress, nodeLink, table } from "./dom.js";
import { call } from "./rpc.js";
import { squarify } from "./treemap.js";

/** @typedef {import("./treemap.js").Box} Box */
/** @typedef {import("./rpc.js").Methods["smp/operations/map"]["result"]} CodeMap */
/** @typedef {CodeMap["files"][number]} MapFile */
/** @typedef {{label: string, box: Box, files: {file: MapFile, box: Box}[]}} Region */
/** @typedef {{name: string, node: string}} Definition */

const SIDE = 4096;
const FAR = { region: 40, file: 26, definitions: 150, definition: 34 };
const MOST_ZOOM = 400;
const GAP = 6;

/** @returns {Promise<import("./main.js").Page>} */
export async function mapPage() {
  let data = await call("smp/operations/map", {});
  const view = new MapView();
  const rows = h("div");
  const filter = h("input", { type: "search", "aria-label": "Show files whose path holds", placeholder: "path holds …", oninput: () => view.filter(/** @type {HTMLInputElement} */ (filter).value) });
  const colours = h("select", { "aria-label": "Colour", onchange: () => view.colourBy(/** @type {HTMLSelectElement} */ (colours).value) },
    h("option", { value: "heat" }, "colour: heat"), h("option", { value: "role" }, "colour: source and tests"), h("option", { value: "language" }, "colour: language"));
  const figures = h("div");
  const show = () => {
    document.getElementById("repository")?.replaceChildren(data.repository);
    figures.replaceChildren(figuresList({
      files: data.files.length.toLocaleString(),
      definitions: sum(data.files, (file) => file.definitions).toLocaleString(),
      lines: sum(data.files, (file) => file.lines).toLocaleString(),
      communities: data.communities.length,
    }));
    rows.replaceChildren(
      table(["community", "#nodes", "touches most"], data.communities.slice(0, 40).map((one) => [one.label, one.member_count, touching(data, one.id)]), "No communities yet."),
      h("h2", {}, "Hottest files"),
      table(["file", "#heat", "#lines"], [...data.files].filter((file) => file.heat > 0).sort((a, b) => b.heat - a.heat).slice(0, 25).map((file) => [nodeLink(file.path), file.heat, file.lines]), "No file has changed often while others call it."));
    view.show(regionsOf(data));
  };
  show();
  const body = h("div", {},
    h("h1", {}, "Map"), figures,
    h("div", { class: "bar" }, h("span", { class: "grow" }, filter), colours,
      h("button", { type: "button", "aria-label": "Closer", onclick: () => view.zoomMiddle(1.6) }, "+"),
      h("button", { type: "button", "aria-label": "Farther", onclick: () => view.zoomMiddle(1 / 1.6) }, "−"),
      h("button", { type: "button", onclick: () => view.whole() }, "Whole")),
    view.element,
    h("p", { class: "quiet" }, "Drag to move, wheel or + and − to zoom, arrows to move, Enter or a click to open what is under the pointer. The tables below say the same in words."),
    rows);
  return {
    title: "Map",
    body,
    left: () => view.stop(),
    moved: async (notice) => {
      if (notice.type !== "memory_updated") return;
      data = await call("smp/operations/map", {});
      show();
    },
  };
}

/** @template T @param {readonly T[]} items @param {(item: T) => number} value */
function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0);
}

/** @param {CodeMap} data @param {string} id */
function touching(data, id) {
  /** @type {Map<string, string>} */
  const labels = new Map(data.communities.map((one) => [one.id, one.label]));
  const found = data.bridges
    .filter((bridge) => bridge.source === id || bridge.target === id)
    .sort((a, b) => b.edge_count - a.edge_count)
    .slice(0, 3)
    .map((bridge) => `${labels.get(bridge.source === id ? bridge.target : bridge.source)} (${bridge.edge_count})`);
  return found.join(", ") || "nothing";
}

/** @param {CodeMap} data @returns {Region[]} */
function regionsOf(data) {
  /** @type {Map<string | null, MapFile[]>} */
  const groups = new Map();
  for (const file of data.files) {
    const group = groups.get(file.community);
    if (group === undefined) groups.set(file.community, [file]);
    else group.push(file);
  }
  const labels = new Map(data.communities.map((one) => [one.id, one.label]));
  const weight = (/** @type {MapFile} */ file) => Math.max(file.lines, 4);
  const ordered = [...groups].map(([id, files]) => ({ label: id === null ? "in no community" : String(labels.get(id) ?? id), files: [...files].sort((a, b) => b.lines - a.lines || (a.path < b.path ? -1 : 1)), size: sum(files, weight) }));
  ordered.sort((a, b) => b.size - a.size || (a.label < b.label ? -1 : 1));
  const boxes = squarify(ordered.map((one) => one.size), { x: 0, y: 0, width: SIDE, height: SIDE });
  return ordered.map(({ label, files }, place) => {
    const box = boxes[place];
    const inner = { x: box.x + GAP, y: box.y + GAP, width: Math.max(box.width - 2 * GAP, 1), height: Math.max(box.height - 2 * GAP, 1) };
    const inside = squarify(files.map(weight), inner);
    return { label, box, files: files.map((file, index) => ({ file, box: inside[index] })) };
  });
}

/** The canvas, and where on it one is. */
class MapView {
  constructor() {
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { tabindex: "0", role: "img", "aria-label": "Map of the code: communities, their files by size, heat as colour" }));
    this.hint = h("output", { hidden: true });
    this.element = h("div", { class: "map" }, this.canvas, this.hint);
    /** @type {Region[]} */
    this.regions = [];
    /** @type {Map<string, readonly Definition[] | null>} */
    this.definitions = new Map();
    this.scale = 0;
    this.x = 0;
    this.y = 0;
    this.wanted = "";
    this.colour = "heat";
    this.frame = 0;
    /** @type {{x: number, y: number} | null} */
    this.pointer = null;
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.element);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", this.redraw);
    this.listenTo();
  }

  listenTo() {
    const canvas = this.canvas;
    let moved = 0;
    let dragging = false;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      dragging = true;
      moved = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      this.pointer = { x: event.offsetX, y: event.offsetY };
      if (dragging) {
        moved += Math.abs(event.movementX) + Math.abs(event.movementY);
        this.move(event.movementX, event.movementY);
      }
      this.point();
    });
    canvas.addEventListener("pointerup", () => {
      dragging = false;
      if (moved < 5) this.open();
    });
    canvas.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.hint.hidden = true;
    });
    canvas.addEventListener("keydown", (event) => {
      const step = 60;
      /** @type {Record<string, () => void>} */
      const keys = {
        ArrowLeft: () => this.move(step, 0), ArrowRight: () => this.move(-step, 0), ArrowUp: () => this.move(0, step), ArrowDown: () => this.move(0, -step),
        "+": () => this.zoomMiddle(1.4), "-": () => this.zoomMiddle(1 / 1.4), 0: () => this.whole(), Enter: () => { this.pointer ??= { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 }; this.open(); },
      };
      const act = keys[event.key];
      if (act === undefined || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      act();
    });
  }

  /** @param {Region[]} regions */
  show(regions) {
    this.regions = regions;
    this.definitions.clear();
    this.redraw();
  }

  /** @param {string} text */
  filter(text) {
    this.wanted = text.toLowerCase();
    this.redraw();
  }

  /** @param {string} what */
  colourBy(what) {
    this.colour = what;
    this.redraw();
  }

  stop() {
    this.observer.disconnect();
    this.dark.removeEventListener("change", this.redraw);
    cancelAnimationFrame(this.frame);
  }

  resized() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.canvas.width = width * devicePixelRatio;
    this.canvas.height = height * devicePixelRatio;
    if (this.scale === 0 && width > 0) this.whole();
    this.redraw();
  }

  whole() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.stretch = height === 0 ? 1 : width / height;
    this.scale = Math.max(height, 1) / SIDE;
    this.x = 0;
    this.y = 0;
    this.redraw();
  }

  /** @param {number} factor */
  zoomMiddle(factor) {
    this.zoom(factor, this.canvas.clientWidth / 2, this.canvas.clientHeight / 2);
  }

  /** @param {number} factor @param {number} atX @param {number} atY */
  zoom(factor, atX, atY) {
    const least = this.canvas.clientHeight / SIDE;
    const next = Math.min(Math.max(this.scale * factor, least), least * MOST_ZOOM);
    const real = next / this.scale;
    this.x = atX - (atX - this.x) * real;
    this.y = atY - (atY - this.y) * real;
    this.scale = next;
    this.hold();
  }

  /** @param {number} dx @param {number} dy */
  move(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.hold();
  }

  /** Keep the map over the middle of the canvas. */
  hold() {
    const width = SIDE * this.scale * this.stretch;
    const height = SIDE * this.scale;
    this.x = Math.min(Math.max(this.x, this.canvas.clientWidth / 2 - width), this.canvas.clientWidth / 2);
    this.y = Math.min(Math.max(this.y, this.canvas.clientHeight / 2 - height), this.canvas.clientHeight / 2);
    this.redraw();
  }

  stretch = 1;

  redraw = () => {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  };

  /** Where a box is on the canvas. @param {Box} box @returns {Box} */
  seen(box) {
    const across = this.scale * this.stretch;
    return { x: this.x + box.x * across, y: this.y + box.y * this.scale, width: box.width * across, height: box.height * this.scale };
  }

  /** @param {Box} box */
  inView(box) {
    return box.x + box.width > 0 && box.y + box.height > 0 && box.x < this.canvas.clientWidth && box.y < this.canvas.clientHeight;
  }

  draw() {
    const context = this.canvas.getContext("2d");
    if (context === null) return;
    const style = getComputedStyle(this.element);
    const ink = style.color;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    /** @type {{text: string, box: Box}[]} */
    const labels = [];
    for (const region of this.regions) {
      const box = this.seen(region.box);
      if (!this.inView(box)) continue;
      this.drawFiles(context, region, ink);
      context.strokeStyle = ink;
      context.lineWidth = 1.5;
      context.strokeRect(box.x, box.y, box.width, box.height);
      if (box.width > FAR.region && box.height > 16) labels.push({ text: region.label, box });
    }
    for (const { text, box } of labels) this.drawLabel(context, text, box, style);
  }

  /** @param {CanvasRenderingContext2D} context @param {Region} region @param {string} ink */
  drawFiles(context, region, ink) {
    for (const { file, box: place } of region.files) {
      const box = this.seen(place);
      if (!this.inView(box)) continue;
      const chosen = this.wanted === "" || file.path.toLowerCase().includes(this.wanted);
      context.globalAlpha = chosen ? 1 : 0.12;
      context.fillStyle = colourOf(file, this.colour, this.dark.matches);
      context.fillRect(box.x, box.y, Math.max(box.width - 0.6, 0.4), Math.max(box.height - 0.6, 0.4));
      context.globalAlpha = 1;
      if (!chosen) continue;
      if (box.width > FAR.definitions && box.height > FAR.definitions) this.drawDefinitions(context, file, box, ink);
      if (box.width > FAR.file && box.height > 12) {
        context.fillStyle = ink;
        context.font = "11px system-ui, sans-serif";
        write(context, file.path.slice(file.path.lastIndexOf("/") + 1), box.x + 3, box.y + 11, box.width - 6);
      }
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {MapFile} file @param {Box} box @param {string} ink */
  drawDefinitions(context, file, box, ink) {
    for (const { definition, box: place } of this.definitionBoxes(file, box)) {
      context.strokeStyle = ink;
      context.lineWidth = 0.5;
      context.strokeRect(place.x, place.y, place.width, place.height);
      if (place.width < FAR.definition || place.height < 12) continue;
      context.fillStyle = ink;
      context.font = "11px ui-monospace, monospace";
      write(context, definition.name, place.x + 3, place.y + Math.min(place.height / 2 + 4, 14), place.width - 6);
    }
  }

  /** @param {MapFile} file @param {Box} box On the canvas. */
  definitionBoxes(file, box) {
    const known = this.definitions.get(file.path);
    if (known === undefined) {
      this.definitions.set(file.path, null);
      void definitionsOf(file.path).then((found) => {
        this.definitions.set(file.path, found);
        this.redraw();
      }, () => undefined);
    }
    const found = known ?? [];
    const boxes = squarify(found.map(() => 1), { x: box.x + 4, y: box.y + 16, width: Math.max(box.width - 8, 1), height: Math.max(box.height - 20, 1) });
    return boxes.map((place, index) => ({ definition: found[index], box: place }));
  }

  /** @param {CanvasRenderingContext2D} context @param {string} text @param {Box} box @param {CSSStyleDeclaration} style */
  drawLabel(context, text, box, style) {
    context.font = "600 13px system-ui, sans-serif";
    const left = Math.max(box.x, 0) + 4;
    const room = Math.min(box.x + box.width, this.canvas.clientWidth) - left - 4;
    const width = Math.min(context.measureText(text).width, room);
    if (width < 12) return;
    const top = Math.max(box.y, 0);
    context.globalAlpha = 0.85;
    context.fillStyle = style.backgroundColor;
    context.fillRect(left - 3, top + 2, width + 6, 18);
    context.globalAlpha = 1;
    context.fillStyle = style.color;
    write(context, text, left, top + 15, room);
  }

  /** What is under the pointer: a node's reference, and words for it. */
  under() {
    if (this.pointer === null) return null;
    const { x, y } = this.pointer;
    const holds = (/** @type {Box} */ box) => x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height;
    const region = this.regions.find((one) => holds(this.seen(one.box)));
    const hit = region?.files.find((one) => holds(this.seen(one.box)));
    if (region === undefined || hit === undefined) return null;
    const box = this.seen(hit.box);
    if (box.width > FAR.definitions && box.height > FAR.definitions) {
      const inner = this.definitionBoxes(hit.file, box).find((one) => holds(one.box));
      if (inner !== undefined) return { node: inner.definition.node, text: `${inner.definition.name} · ${hit.file.path}` };
    }
    const { path, lines, definitions, heat } = hit.file;
    return { node: path, text: `${path} · ${lines} lines, ${definitions} definitions, heat ${heat} · ${region.label}` };
  }

  point() {
    const found = this.under();
    this.hint.hidden = found === null;
    if (found === null || this.pointer === null) return;
    this.hint.textContent = found.text;
    const right = this.pointer.x > this.canvas.clientWidth / 2;
    this.hint.style.left = right ? "" : `${this.pointer.x + 14}px`;
    this.hint.style.right = right ? `${this.canvas.clientWidth - this.pointer.x + 14}px` : "";
    this.hint.style.top = `${Math.min(this.pointer.y + 14, this.canvas.clientHeight - 30)}px`;
  }

  open() {
    const found = this.under();
    if (found !== null) location.hash = nodeAddress(found.node);
  }
}

/** @param {string} path @returns {Promise<readonly Definition[]>} */
async function definitionsOf(path) {
  const { defines } = await call("smp/context", { file_path: path, depth: 1, max_tokens: 4000 });
  return [...defines.classes, ...defines.functions].map((one) => ({ name: one.name, node: one.id }));
}

/** @param {CanvasRenderingContext2D} context @param {string} text @param {number} x @param {number} y @param {number} room */
function write(context, text, x, y, room) {
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > room) shown = `${shown.slice(0, Math.floor(shown.length * 0.8) - 1)}…`;
  if (shown.length > 1 || text.length === 1) context.fillText(shown, x, y);
}

/** @param {MapFile} file @param {string} by @param {boolean} dark */
function colourOf(file, by, dark) {
  const light = dark ? 34 : 82;
  if (by === "role") return `hsl(${file.role === "test" ? 150 : file.role === "generated" ? 0 : 212} ${file.role === "generated" ? 0 : 45}% ${light}%)`;
  if (by === "language") return `hsl(${hue(file.language ?? "")} 45% ${light}%)`;
  const warm = Math.min(file.heat, 100) / 100;
  return warm === 0 ? `hsl(212 18% ${dark ? 28 : 88}%)` : `hsl(${50 - 45 * warm} ${60 + 30 * warm}% ${dark ? 32 + 12 * warm : 80 - 22 * warm}%)`;
}

/** @param {string} text */
function hue(text) {
  let hash = 7;
  for (const letter of text) hash = (hash * 31 + letter.charCodeAt(0)) % 360;
  return hash;
}
