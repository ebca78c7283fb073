// Puts calls to the stack (stack.cjs) into the functions of a source, without adding a line.
//
// What is put in stands between two marks, so that the original text can be had again (`restore`).
'use strict';

const maps = require('./source_map.cjs');
const { MODULE, UNNAMED } = require('./stack.cjs');
const { isForeign, nameOf, wrapperOf } = require('./naming.cjs');

const OPEN = '/*\u00absmp*/';
const CLOSE = '/*smp\u00bb*/';
// An arrow function ends before the mark behind its closing brace.
const PUT_IN = /\/\*\u00absmp\*\/[^]*?(?:\/\*smp\u00bb\*\/|$)/g;
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const CALLS = new Set(['CallExpression', 'NewExpression', 'TaggedTemplateExpression', 'ImportExpression']);
const FRAME = '__smp$s';
const STACK = '__smp$';

const restore = (text) => text.replace(PUT_IN, '');
const isRewritten = (text) => text.includes(OPEN);

let acorn = null; // read when there is something to parse

class Rewriter {
  // kind: `module`, `commonjs` (its caller keeps the module's frame) or `script` (code that a library gave to `vm`).
  constructor(source, file, kind, offset) {
    this.source = source;
    this.file = file;
    this.kind = kind;
    this.offset = offset;
    this.opens = [];
    this.closes = [];
    this.arrows = [];
    this.skipped = 0;
    this.map = maps.find(source, file);
    acorn ??= require('./acorn.cjs');
    this.tree = acorn.parse(source, {
      ecmaVersion: 'latest',
      sourceType: kind === 'module' ? 'module' : 'script',
      allowReturnOutsideFunction: kind !== 'module',
      allowSuperOutsideMethod: true,
      allowHashBang: true,
      locations: true,
      onToken: (token) => {
        if (token.type === acorn.tokTypes.arrow) this.arrows.push(token.end);
      },
    });
    this.wrapper = kind === 'script' ? wrapperOf(this.tree) : null;
  }

  run() {
    const top = this.kind === 'module' ? { suspends: true, generator: false, asynchronous: true } : null;
    if (top !== null && this.tree.body.length) {
      const { at, separator } = this.start(this.tree.body, this.tree.body[0].start);
      this.open(at, `${separator}const ${FRAME}=${STACK}.m(${JSON.stringify(`1\t${this.file}\t${MODULE}`)});`);
    }
    for (const child of this.tree.body) this.visit(child, this.tree, [], top);
    if (top !== null && this.tree.body.length) {
      this.close(this.tree.body.at(-1).end, `;${STACK}.x(${FRAME});`);
    }
    return this.text();
  }

  open(at, text) {
    this.opens.push([at, OPEN + text + CLOSE]);
  }

  close(at, text) {
    this.closes.push([at, OPEN + text + CLOSE]);
  }

  // Where the first statement after the directives may be put.
  start(body, otherwise) {
    const directives = body.filter((statement) => statement.directive !== undefined);
    return directives.length ? { at: directives.at(-1).end, separator: ';' } : { at: otherwise, separator: '' };
  }

  visit(node, parent, ancestors, owner) {
    if (FUNCTIONS.has(node.type)) {
      this.visitFunction(node, parent, ancestors);
      return;
    }
    const inner = node.type === 'StaticBlock' || node.type === 'PropertyDefinition' ? null : owner;
    const before = owner !== null ? BEFORE[node.type] : undefined;
    const after = owner !== null ? AFTER[node.type] : undefined;
    if (before) before.call(this, node, owner, ancestors);
    this.visitChildren(node, ancestors, inner);
    if (after) after.call(this, node, owner, ancestors);
  }

  visitChildren(node, ancestors, owner) {
    ancestors.push(node);
    for (const key in node) {
      const value = node[key];
      if (Array.isArray(value)) {
        for (const one of value) if (one !== null && typeof one.type === 'string') this.visit(one, node, ancestors, owner);
      } else if (value !== null && typeof value === 'object' && typeof value.type === 'string') {
        this.visit(value, node, ancestors, owner);
      }
    }
    ancestors.pop();
  }

  visitFunction(node, parent, ancestors) {
    const id = this.identity(node, parent, ancestors);
    const traced = id !== null && !(node.body.type === 'BlockStatement' && clashes(node.body));
    if (id !== null && !traced) this.skipped++;
    const owner = traced
      ? { asynchronous: node.async, generator: node.generator, suspends: node.async || node.generator }
      : null;
    ancestors.push(node);
    for (const parameter of node.params) {
      this.visit(parameter, node, ancestors, null);
      if (traced) this.defaults(parameter, id);
    }
    if (traced) this.begin(node, id);
    this.visit(node.body, node, ancestors, owner);
    if (traced) this.end(node, owner);
    ancestors.pop();
  }

  begin(node, id) {
    const enter = `const ${FRAME}=${STACK}.e(${JSON.stringify(id)});try{`;
    if (node.body.type === 'BlockStatement') {
      const { at, separator } = this.start(node.body.body, node.body.start + 1);
      this.open(at, separator + enter);
    } else {
      this.open(this.arrows.findLast((end) => end <= node.body.start), `{${enter}return(`);
    }
  }

  end(node, owner) {
    const leave = owner.suspends ? `${STACK}.x(${FRAME})` : `${STACK}.c=${FRAME}.u`;
    if (node.body.type === 'BlockStatement') {
      // In a body without statements both stand at one place, the beginning first.
      const empty = node.body.body.every((statement) => statement.directive !== undefined);
      this[empty ? 'open' : 'close'](node.body.end - 1, `}finally{${leave}}`);
    } else this.close(node.end, `)}finally{${leave}}}`);
  }

  // Default values that call something are made in the name of the function.
  defaults(node, id) {
    if (node === null || typeof node !== 'object') return;
    if (node.type === 'AssignmentPattern' && contains(node.right, CALLS) && !FUNCTIONS.has(node.right.type)) {
      const equals = this.source.indexOf('=', node.left.end) + 1;
      if (!/[/]/.test(this.source.slice(node.left.end, equals))) {
        this.open(equals, `${STACK}.d(${JSON.stringify(id)},()=>(`);
        this.close(node.end, '))');
      }
    }
    for (const part of node.elements ?? node.properties ?? []) this.defaults(part?.value ?? part, id);
    if (node.type === 'AssignmentPattern') this.defaults(node.left, id);
    if (node.type === 'RestElement') this.defaults(node.argument, id);
  }

  // Line, file and name, separated by tabs; null for code that comes from elsewhere.
  identity(node, parent, ancestors) {
    const { name, at } = nameOf(node, parent, ancestors, this.source);
    const place = this.place(at);
    if (place === null || node === this.wrapper) {
      return node === this.wrapper || this.kind === 'script' ? `1\t${this.home()}\t${MODULE}` : null;
    }
    return isForeign(place.file) ? null : `${place.line}\t${place.file}\t${name ?? UNNAMED}`;
  }

  home() {
    if (this.map === null || this.map.map.sources.length !== 1) return this.file;
    const first = this.map.lines.flat().find((segment) => segment.length > 3);
    const line = first ? this.map.lines.findIndex((segments) => segments.includes(first)) : -1;
    return (line >= 0 && maps.original(this.map, this.file, line, first[0])?.file) || this.file;
  }

  place(node) {
    const { line, column } = node.loc.start;
    if (this.map === null) return { file: this.file, line: line + this.offset.line };
    return maps.original(this.map, this.file, line - 1, line === 1 ? column + this.offset.column : column);
  }

  text() {
    // At one place what ends comes before what begins; outer beginnings first, inner endings first.
    const all = [...this.closes.map(([at, text]) => [at, text, 0]), ...this.opens.map(([at, text]) => [at, text, 1])];
    if (!all.length) return this.source;
    all.sort((one, other) => one[0] - other[0] || one[2] - other[2]);
    const pieces = [];
    let done = 0;
    for (const [at, text] of all) {
      pieces.push(this.source.slice(done, at), text);
      done = at;
    }
    if (this.map === null || !this.map.inline || this.map.at < done) {
      pieces.push(this.source.slice(done));
    } else {
      pieces.push(this.source.slice(done, this.map.at), maps.shifted(this.map, this.moved(all)));
      pieces.push(this.source.slice(this.map.at + this.map.length));
    }
    return pieces.join('');
  }

  moved(all) {
    const found = new Map();
    for (const [at, text] of all) {
      const { line, column } = acorn.getLineInfo(this.source, at);
      if (!found.has(line - 1)) found.set(line - 1, []);
      found.get(line - 1).push([column + (line === 1 ? this.offset.column : 0), text.length]);
    }
    return found;
  }
}

const BEFORE = {
  AwaitExpression(node) {
    this.open(node.start, `${STACK}.r(${FRAME},`);
    this.open(node.start + 'await'.length, ` ${STACK}.a(${FRAME},(`);
  },
  YieldExpression(node, owner) {
    this.open(node.start, `${STACK}.r(${FRAME},`);
    if (node.argument === null) return;
    const end = node.delegate ? this.source.indexOf('*', node.start) + 1 : node.start + 'yield'.length;
    this.open(end, ` ${STACK}.${node.delegate ? 'y' : 'a'}(${FRAME},(`);
  },
  ReturnStatement(node, owner) {
    if (!owner.asynchronous || !owner.generator || node.argument === null) return;
    this.open(node.start + 'return'.length, ` ${STACK}.a(${FRAME},(`);
  },
  CatchClause(node, owner) {
    this.open(node.body.start + 1, resume(owner));
  },
  TryStatement(node, owner) {
    if (node.finalizer) this.open(node.finalizer.start + 1, resume(owner));
  },
  ForOfStatement(node, owner, ancestors) {
    if (!node.await) return;
    this.open(labelled(node, ancestors).start, '{');
    this.open(node.right.start, `${STACK}.f(${FRAME},(`);
    if (node.body.type === 'BlockStatement') this.open(node.body.start + 1, resume(owner));
    else this.open(node.body.start, `{${resume(owner)}`);
  },
};

const AFTER = {
  AwaitExpression(node) {
    this.close(node.end, ')))');
  },
  YieldExpression(node, owner) {
    if (node.argument === null) this.close(node.end, ` ${STACK}.a(${FRAME}))`);
    else this.close(node.end, node.delegate && owner.asynchronous ? '),true))' : ')))');
  },
  ReturnStatement(node, owner) {
    if (owner.asynchronous && owner.generator && node.argument !== null) this.close(returned(node, this.source), '))');
  },
  ForOfStatement(node, owner, ancestors) {
    if (!node.await) return;
    this.close(node.right.end, '))');
    if (node.body.type !== 'BlockStatement') this.close(node.end, '}');
    this.close(labelled(node, ancestors).end, `;${resume(owner)}}`);
  },
};

const resume = (owner) => (owner.suspends ? `${STACK}.r(${FRAME});` : `${STACK}.c=${FRAME};`);

function labelled(node, ancestors) {
  let outer = node;
  for (let at = ancestors.length - 1; at >= 0 && ancestors[at].type === 'LabeledStatement'; at--) outer = ancestors[at];
  return outer;
}

// The end of what is returned, its parentheses included, without the semicolon.
function returned(node, source) {
  return source[node.end - 1] === ';' ? node.end - 1 : node.end;
}

function contains(node, kinds) {
  if (kinds.has(node.type)) return true;
  if (FUNCTIONS.has(node.type)) return false;
  return Object.values(node).some((value) =>
    (Array.isArray(value) ? value : [value]).some((one) => one && typeof one.type === 'string' && contains(one, kinds)),
  );
}

// Declarations that may stand beside each other in a function but not in a block: a function twice, or beside a variable.
function clashes(body) {
  const functions = body.body.filter((one) => one.type === 'FunctionDeclaration').map((one) => one.id.name);
  if (new Set(functions).size !== functions.length) return true;
  return functions.length > 0 && variables(body).some((name) => functions.includes(name));
}

function variables(node, found = []) {
  if (FUNCTIONS.has(node.type)) return found;
  if (node.type === 'VariableDeclaration' && node.kind === 'var') {
    for (const one of node.declarations) bound(one.id, found);
  }
  for (const value of Object.values(node)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one && typeof one.type === 'string') variables(one, found);
    }
  }
  return found;
}

function bound(pattern, found) {
  if (!pattern) return;
  if (pattern.type === 'Identifier') found.push(pattern.name);
  for (const part of pattern.elements ?? pattern.properties ?? []) bound(part?.value ?? part?.argument ?? part, found);
  if (pattern.left) bound(pattern.left, found);
  if (pattern.type === 'RestElement') bound(pattern.argument, found);
}

// The source with its functions traced, and how many could not be.
function rewrite(source, file, kind, offset = { line: 0, column: 0 }) {
  if (isRewritten(source)) return { text: source, skipped: 0 };
  try {
    const rewriter = new Rewriter(source, file, kind, offset);
    return { text: rewriter.run(), skipped: rewriter.skipped };
  } catch {
    // No source that this parser reads, nested too deeply, or no parser: it runs as it is, and is counted as lost.
    return { text: source, skipped: 1 };
  }
}

module.exports = { rewrite, restore, isRewritten };
