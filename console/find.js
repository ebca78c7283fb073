// @ts-check
/** Find by meaning, words and graph, and how the answer was walked to. */
import { h, nodeAddress, nodeLink, s, table } from "./dom.js";
import { call } from "./rpc.js";

/** @param {string} query @returns {Promise<import("./main.js").Page>} */
export async function findPage(query) {
  if (query.trim() === "")
    return { title: "Find", body: h("div", {}, h("h1", {}, "Find"), h("p", {}, "Describe in the field above what the code does: ", h("code", {}, "where are refunds rounded"), ".")) };
  const found = await call("smp/locate", { query, ranking: "fusion", top_k: 15 });
  const { embedded, total } = found.embedding;
  return {
    title: query,
    body: h("div", {},
      h("h1", {}, query),
      h("p", { class: "quiet" },
        `${found.results.length} of what was reached from ${found.seed_count} seeds over ${found.total_walked} nodes`,
        embedded < total ? `; ${embedded} of ${total} vectors so far, so that meaning finds less than it will` : "", "."),
      table(["#score", "what", "where", ""], found.results.map((hit) => [
        hit.final_score.toFixed(3),
        h("div", {}, nodeLink(hit.node_id, hit.signature ?? hit.name), hit.docstring === null ? null : h("div", { class: "quiet" }, firstLine(hit.docstring))),
        h("span", { class: "code" }, hit.file === null ? "" : `${hit.file}:${hit.start_line}`),
        h("span", {}, hit.is_seed ? h("span", { class: "tag warn" }, "seed") : null, hit.heat_score > 0 ? ` heat ${hit.heat_score}` : ""),
      ]), "Nothing. Try other words, or a name that you know."),
      found.structural_map.length === 0 ? null : h("h2", {}, "How they hang together"),
      found.structural_map.length === 0 ? null : walkPicture(found)),
  };
}

/** @param {string} text */
function firstLine(text) {
  return text.trim().split("\n", 1)[0];
}

/** Seeds at the left, what is farther from them to the right; true edges between. @param {import("./rpc.js").Methods["smp/locate"]["result"]} found */
function walkPicture(found) {
  const links = found.structural_map.slice(0, 60);
  /** @type {Map<string, number>} */
  const depth = new Map();
  for (const hit of found.results) depth.set(hit.node_id, hit.is_seed ? 0 : 1);
  for (let round = 0; round < 3; round += 1)
    for (const link of links) {
      const [from, to] = [depth.get(link.from), depth.get(link.to)];
      if (from !== undefined && to === undefined) depth.set(link.to, from + 1);
      if (to !== undefined && from === undefined) depth.set(link.from, to + 1);
    }
  /** @type {string[][]} */
  const columns = [];
  for (const [node, column] of depth) (columns[column] ??= []).push(node);
  const names = new Map(found.results.map((hit) => [hit.node_id, hit.name]));
  const seeds = new Set(found.results.filter((hit) => hit.is_seed).map((hit) => hit.node_id));
  const height = 34 * Math.max(...Array.from(columns, (column) => column?.length ?? 0), 2) + 30;
  const wide = 300;
  /** @type {Map<string, {x: number, y: number}>} */
  const places = new Map();
  columns.forEach((column, x) => column?.forEach((node, y) => places.set(node, { x: 24 + x * wide, y: 24 + ((y + 0.5) * (height - 48)) / column.length })));
  const width = 24 + columns.length * wide;
  const lines = links.flatMap((link) => {
    const [from, to] = [places.get(link.from), places.get(link.to)];
    if (from === undefined || to === undefined) return [];
    const middle = (from.x + to.x) / 2 + (from.x === to.x ? 60 : 0);
    return [s("path", { d: `M${from.x},${from.y} C${middle},${from.y} ${middle},${to.y} ${to.x},${to.y}` }, s("title", {}, `${nameOf(link.from, names)} ${link.edge_type} ${nameOf(link.to, names)}`))];
  });
  const dots = [...places].map(([node, { x, y }]) => s("a", { href: nodeAddress(node), "aria-label": nameOf(node, names) },
    s("circle", { cx: x, cy: y, r: 6, class: seeds.has(node) ? "seed" : "" }, s("title", {}, node)), s("text", { x: x + 10, y: y + 4 }, nameOf(node, names))));
  return s("svg", { class: "walk", width, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "The walk from seeds to results" }, ...lines, ...dots);
}

/** @param {string} node @param {Map<string, unknown>} names */
function nameOf(node, names) {
  return String(names.get(node) ?? node.slice(Math.max(node.lastIndexOf("#"), node.lastIndexOf("/")) + 1));
}
