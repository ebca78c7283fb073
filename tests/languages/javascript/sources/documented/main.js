// Types that comments declare: imports, type definitions, members, fields, casts.
import { Model } from "./model.js";
/** @typedef {import("./model.js").Model} M */
/**
 * @param {M} a
 * @param {import("./model.js").Model} b
 * @param {{ model: Model, list: Model[] }} c
 * @param {(m: Model) => void} d
 * @param {Array<Model>} [e]
 * @param {object} opts
 * @param {Model} opts.inner
 * @returns {Promise<Model>}
 */
export function f(a, b, c, d, e = [], opts) {
  a.save();
  // -> model.js#Model.save
  b.save();
  // -> model.js#Model.save
  c.model.save();
  // -> model.js#Model.save
  c.list[0].save();
  // -> model.js#Model.save
  e.forEach((x) => x.save());
  // -> model.js#Model.save
  opts.inner.save();
  // -> model.js#Model.save
  /** @type {Model | null} */
  const local = find();
  local?.save();
  // -> model.js#Model.save
  const cast = /** @type {Model} */ (find());
  cast.save();
  // -> model.js#Model.save
  return null;
}
f().then((m) => m.save());
// -> model.js#Model.save
/** @returns {Model} */
const find = () => JSON.parse("x");
find().save();
// -> model.js#Model.save
class Holder {
  /** @type {Model} */
  model;
  constructor() {
    /** @type {Map<string, Model>} */
    this.all = new Map();
  }
  /** @param {Model} m */
  set(m) {
    m.save();
    // -> model.js#Model.save
    this.model.save();
    // -> model.js#Model.save
    this.all.get("x").save();
    // -> model.js#Model.save
  }
}
/**
 * @template T
 * @param {T} x
 * @returns {T}
 */
function id(x) { return x; }
id(new Model()).save();
// -> model.js#Model.save
/** @callback Done @param {Model} m */
/** @typedef {{ go: Model }} Opt */
/** @param {Opt} o */
export function g(o) { o.go.save(); }
// -> model.js#Model.save
