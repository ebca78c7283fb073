// @ts-check
/** Which page is shown, and what the header says. */
import { byId, h } from "./dom.js";
import { findPage } from "./find.js";
import { healthPage } from "./health.js";
import { mapPage } from "./map.js";
import { nodePage } from "./node.js";
import { listen } from "./rpc.js";
import { sessionPage, sessionsPage } from "./sessions.js";
import { swarmPage, swarmsPage } from "./swarms.js";

/**
 * A page: its title, and what it shows. `moved` is called after a notice; it draws anew what may have changed.
 * @typedef {{title: string, body: Node, moved?: (notice: import("./rpc.js").Notice) => Promise<void> | void, left?: () => void}} Page
 */

/** @type {Record<string, (rest: string, query: URLSearchParams) => Promise<Page>>} */
const PAGES = {
  map: () => mapPage(),
  find: (_, query) => findPage(query.get("q") ?? ""),
  node: (rest) => nodePage(rest),
  sessions: () => sessionsPage(),
  session: (rest) => sessionPage(rest),
  swarms: () => swarmsPage(),
  swarm: (rest) => swarmPage(rest),
  health: () => healthPage(),
};
/** @type {Page | null} */
let page = null;
let turn = 0;

async function show() {
  const mine = ++turn;
  const [path = "", query = ""] = location.hash.replace(/^#\//, "").split("?");
  const slash = path.indexOf("/");
  const name = slash < 0 ? path || "map" : path.slice(0, slash);
  const rest = slash < 0 ? "" : decodeURIComponent(path.slice(slash + 1));
  for (const link of document.querySelectorAll("nav a"))
    link.toggleAttribute("aria-current", link.getAttribute("href") === `#/${name}`);
  const main = byId("page");
  main.setAttribute("aria-busy", "true");
  try {
    const open = PAGES[name];
    if (open === undefined) throw new Error(`there is no page ${name}; the map is at #/map`);
    const next = await open(rest, new URLSearchParams(query));
    if (mine !== turn) return next.left?.();
    page?.left?.();
    page = next;
    document.title = `${next.title} · SMP`;
    main.replaceChildren(next.body);
    complain(null);
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  } catch (error) {
    if (mine === turn) complain(error);
  } finally {
    if (mine === turn) main.removeAttribute("aria-busy");
  }
}

/** @param {unknown} error */
function complain(error) {
  const place = byId("trouble");
  place.hidden = error === null;
  place.textContent = error instanceof Error ? error.message : error === null ? "" : String(error);
}

byId("jump").addEventListener("submit", (event) => {
  event.preventDefault();
  const query = new FormData(/** @type {HTMLFormElement} */ (event.target)).get("query");
  location.hash = `#/find?q=${encodeURIComponent(String(query))}`;
});
addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    byId("jump").querySelector("input")?.focus();
  }
});
addEventListener("hashchange", () => void show());

let gathering = 0;
listen(
  (notice) => {
    byId("live").replaceChildren(h("span", {}, String(notice.type).replaceAll("_", " ")));
    clearTimeout(gathering);
    gathering = setTimeout(() => Promise.resolve(page?.moved?.(notice)).catch(complain), 300);
  },
  (connected) => {
    byId("live").replaceChildren(h("span", { class: connected ? "good" : "warn" }, connected ? "live" : "not connected"));
  },
);
void show();
