// Records which function of a project is entered from which line: node --require observe.cjs TEST, with OBSERVE naming a JSON file
// {"typescript": path of the compiler's package, "root": folder, "out": folder}. Bench only.
//
// Each function gets a call at its head, on the same line, that looks at the frame below it. A caller that is no file of the project
// (the platform, a test runner, a library) is kept as an empty text. What leaves: [declaration, caller's file, caller's line].
"use strict";
const fs = require("fs");
const Module = require("module");
const path = require("path");

const { typescript, root, out } = JSON.parse(fs.readFileSync(process.env.OBSERVE, "utf8"));
const ts = require(typescript);
const declarations = [];
const seen = new Set();

globalThis.__entered = function entered(id) {
  const { stackTraceLimit, prepareStackTrace } = Error;
  const holder = {};
  Error.stackTraceLimit = 2;
  Error.prepareStackTrace = (_, frames) => frames;
  Error.captureStackTrace(holder, entered);
  const frame = holder.stack[1];
  Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  const file = frame?.getFileName() ?? "";
  const own = file.startsWith(root + path.sep) && !file.includes("node_modules");
  seen.add(own ? `${id}|${path.relative(root, file)}|${frame.getLineNumber()}` : `${id}||0`);
};

function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return undefined;
  let above = node.parent;
  while (ts.isParenthesizedExpression(above)) above = above.parent;
  if (ts.isVariableDeclaration(above) || ts.isPropertyAssignment(above) || ts.isPropertyDeclaration(above)) return above.name;
  if (ts.isBinaryExpression(above) && ts.isPropertyAccessExpression(above.left)) return above.left.name;
  return node.name;
}

function instrumented(text, file) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const added = [];
  const line = (at) => source.getLineAndCharacterOfPosition(at).line + 1;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const name = nameOf(node);
      const shown = ts.isConstructorDeclaration(node) ? "constructor" : name ? name.getText() : "";
      const place = line((name ?? node).getStart());
      declarations.push([path.relative(root, file), line(node.getStart()), line(node.getEnd()), place, shown]);
      const enter = `__entered("${process.pid}:${declarations.length - 1}")`;
      if (ts.isBlock(node.body)) {
        const directives = node.body.statements.filter((one) => ts.isExpressionStatement(one) && ts.isStringLiteral(one.expression));
        added.push([directives.length ? directives.at(-1).getEnd() : node.body.getStart() + 1, `;${enter};`]);
      } else added.push([node.body.getStart(), `(${enter},`], [node.body.getEnd(), ")"]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const [at, insert] of added.sort((one, other) => other[0] - one[0])) text = text.slice(0, at) + insert + text.slice(at);
  return text;
}

const compile = Module.prototype._compile;
Module.prototype._compile = function (text, file, ...rest) {
  const own = file.startsWith(root + path.sep) && !file.includes("node_modules") && /\.c?js$/.test(file);
  return compile.call(this, own ? instrumented(text, file) : text, file, ...rest);
};
process.on("exit", () => {
  const rows = [...seen].map((one) => one.split("|")).filter(([id]) => id.startsWith(`${process.pid}:`));
  const found = rows.map(([id, file, at]) => [declarations[Number(id.split(":")[1])], file, Number(at)]);
  if (found.length) fs.writeFileSync(path.join(out, `${process.pid}-${Date.now()}.json`), JSON.stringify(found));
});
