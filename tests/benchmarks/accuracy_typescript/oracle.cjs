// Asks the TypeScript compiler what each call of a project resolves to. Bench only: node oracle.cjs REQUEST.json > ANSWERS.json
//
// REQUEST: {"typescript": path of the compiler's package, "root": folder, "files": [paths below it], "options": {compiler options}}.
// ANSWERS: one row a place where code may run: {file, line, kind, name, state, targets, lower, possible}.
//   kind:    call, new, super, jsx, tag, decorator, get, set; handed: a function of the project is an argument there.
//   line:    where the name of what is called stands, 1-based.
//   state:   plain    - a property that only shares the name of an accessor of the project
//            project  - the declaration is in the project; `targets` are all needed, each [file, first line, last line, name line, name]
//            external - it is declared elsewhere, or built into the language
//            value    - what is called is a value of a function type (a parameter, a table entry): the checker knows no body
//            unnamed  - the function is written without a name as an argument or in place
//            unknown  - the checker has no answer (any, errors)
//   lower:   the same call said more exactly, or as well: members of that name in classes that declare to be below, in literals
//            typed as that interface, further overloads, other members of a union.
//   possible: members of that name in any class or literal that has all that the receiver's type asks for.
"use strict";
const fs = require("fs");
const path = require("path");

const request = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const ts = require(request.typescript);
const root = request.root;
const wanted = new Set(request.files.map((file) => path.join(root, file)));
const { options, errors } = ts.convertCompilerOptionsFromJson(request.options, root);
if (errors.length) throw new Error(ts.flattenDiagnosticMessageText(errors[0].messageText, "\n"));
const program = ts.createProgram([...wanted], options);
const checker = program.getTypeChecker();
const rows = [];

const unwrap = (node) => {
  while (
    node &&
    (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node) ||
      ts.isSatisfiesExpression?.(node) || ts.isTypeAssertionExpression(node))
  )
    node = node.expression;
  return node;
};
const inProject = (node) => wanted.has(node.getSourceFile().fileName);
const lineOf = (node, at) => node.getSourceFile().getLineAndCharacterOfPosition(at).line + 1;
const first = (node) => lineOf(node, node.getStart());
const isFunction = (node) => ts.isFunctionExpression(node) || ts.isArrowFunction(node);
const isType = (node) =>
  ts.isFunctionTypeNode(node) || ts.isCallSignatureDeclaration(node) || ts.isConstructSignatureDeclaration(node) ||
  ts.isConstructorTypeNode(node) || ts.isJSDocSignature?.(node) || ts.isJSDocFunctionType?.(node);
const aliased = (symbol) => (symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);

// The name under which a function written as an expression is known: of its variable, property, field, assignment or itself.
function placeOf(node) {
  let above = node.parent;
  let inner = node;
  while (above && unwrap(above) !== above && !ts.isExpressionStatement(above)) {
    inner = above;
    above = above.parent;
  }
  if (!above) return undefined;
  if (ts.isVariableDeclaration(above) && above.initializer === inner && ts.isIdentifier(above.name)) return above;
  if ((ts.isPropertyAssignment(above) || ts.isPropertyDeclaration(above)) && above.initializer === inner) return above;
  if (ts.isBinaryExpression(above) && above.right === inner && ts.isAssignmentOperator(above.operatorToken.kind)) return above;
  if (ts.isExportAssignment(above)) return above;
  return undefined;
}

function describe(node) {
  let outer = node;
  let name = node.name;
  if (ts.isConstructorDeclaration(node)) name = undefined;
  else if (isFunction(node) || ts.isClassExpression(node)) {
    const place = placeOf(node);
    if (place) {
      outer = node;
      name = place.name ?? (ts.isBinaryExpression(place) ? place.left : undefined) ?? node.name;
      if (name && ts.isPropertyAccessExpression(name)) name = name.name;
    }
  }
  const shown = ts.isConstructorDeclaration(node) ? "constructor" : name ? name.getText() : "";
  const file = path.relative(root, node.getSourceFile().fileName);
  const end = lineOf(node, outer.getEnd());
  return [file, first(outer), end, name ? first(name) : first(node), shown];
}

// The declarations with code behind a symbol; those without where there is no code.
function bodies(declarations) {
  const real = declarations.filter((one) => one.body || ts.isClassLike(one) || !ts.isFunctionLike(one));
  return real.length ? real : declarations;
}

function functionsOf(declaration) {
  // A variable, property or field that holds a function written there.
  const holder = ts.isShorthandPropertyAssignment(declaration)
    ? undefined
    : declaration.initializer ?? (ts.isExportAssignment(declaration) ? declaration.expression : undefined) ??
      (ts.isBinaryExpression(declaration.parent ?? declaration) ? declaration.parent.right : undefined) ??
      (ts.isBinaryExpression(declaration) ? declaration.right : undefined);
  const value = holder && unwrap(holder);
  if (!value) return [];
  if (isFunction(value) || ts.isClassExpression(value)) return [value];
  return [];
}

function calleeSymbol(node) {
  const callee = unwrap(node);
  if (ts.isPropertyAccessExpression(callee)) return aliased(checker.getSymbolAtLocation(callee.name));
  if (ts.isElementAccessExpression(callee)) return aliased(checker.getSymbolAtLocation(callee.argumentExpression));
  return aliased(checker.getSymbolAtLocation(callee));
}

// Members of that name below the class or interface that declares one.
const heirs = new Map();
function noteHeir(base, heir) {
  if (!base || base === heir) return;
  const known = heirs.get(base) ?? new Set();
  heirs.set(base, known.add(heir));
}
function collectHeirs(node) {
  if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node)) {
    const own = checker.getSymbolAtLocation(node.name ?? node) ?? node.symbol;
    for (const clause of node.heritageClauses ?? [])
      for (const base of clause.types) {
        const type = checker.getTypeAtLocation(base);
        noteHeir(type.symbol ?? type.aliasSymbol, own);
      }
  }
  if (ts.isObjectLiteralExpression(node)) {
    const type = checker.getContextualType(node);
    for (const part of type ? (type.isUnion() ? type.types : [type]) : []) {
      noteHeir(part.aliasSymbol, node.symbol);
      noteHeir(part.symbol, node.symbol);
    }
  }
  ts.forEachChild(node, collectHeirs);
}
function below(owner, name, seen = new Set()) {
  const found = [];
  for (const heir of heirs.get(owner) ?? []) {
    if (seen.has(heir)) continue;
    seen.add(heir);
    const member = heir.members?.get(name);
    for (const one of member?.declarations ?? []) found.push(...(ts.isFunctionLike(one) ? [one] : functionsOf(one)));
    found.push(...below(heir, name, seen));
  }
  return found;
}
function lowerOf(declaration) {
  const owner = declaration.parent && (declaration.parent.symbol ?? undefined);
  const symbol = declaration.symbol;
  if (!owner || !symbol) return [];
  const aliasOwner = ts.isTypeLiteralNode(declaration.parent) ? declaration.parent.parent?.symbol : undefined;
  return [...below(owner, symbol.escapedName), ...(aliasOwner ? below(aliasOwner, symbol.escapedName) : [])];
}

// Members by name of everything in the project that may stand behind a receiver.
const membersNamed = new Map();
const accessors = new Set();
function noteMembers(node) {
  if ((ts.isGetAccessor(node) || ts.isSetAccessor(node)) && ts.isIdentifier(node.name)) accessors.add(node.name.text);
  if (ts.isClassLike(node) || ts.isObjectLiteralExpression(node))
    for (const member of node.members ?? node.properties) {
      const name = member.name && ts.isIdentifier(member.name) ? member.name.text : undefined;
      const code = ts.isFunctionLike(member) ? member : functionsOf(member)[0];
      if (name && code) membersNamed.set(name, [...(membersNamed.get(name) ?? []), [node, code]]);
    }
  if (ts.isBinaryExpression(node) && ts.isPropertyAccessExpression(node.left) && isFunction(unwrap(node.right))) {
    const name = node.left.name.text;
    membersNamed.set(name, [...(membersNamed.get(name) ?? []), [node.left.expression, unwrap(node.right)]]);
  }
  ts.forEachChild(node, noteMembers);
}
function possibleOf(node, name) {
  const callee = ts.isCallExpression(node) ? unwrap(node.expression) : undefined;
  if (!callee || !ts.isPropertyAccessExpression(callee) || !membersNamed.has(name)) return [];
  const wantedType = checker.getApparentType(checker.getNonNullableType(checker.getTypeAtLocation(callee.expression)));
  const needed = wantedType.getProperties().filter((one) => !(one.flags & ts.SymbolFlags.Optional)).map((one) => one.escapedName);
  const found = [];
  for (const [holder, code] of membersNamed.get(name)) {
    const symbol = holder.symbol;
    const type = ts.isClassLike(holder) ? checker.getDeclaredTypeOfSymbol(symbol) : checker.getTypeAtLocation(holder);
    const offered = new Set(type.getProperties().map((one) => one.escapedName));
    const assigned = ts.isCallExpression(holder.parent) && holder.parent.expression.getText() === "Object.assign";
    if (assigned || needed.every((one) => offered.has(one) || String(one).startsWith("__@"))) found.push(code);
  }
  return found;
}

function emit(node, kind, name, at, state, targets = [], lower = []) {
  const own = node.getSourceFile();
  rows.push({
    file: path.relative(root, own.fileName), line: lineOf(own, at), kind, name, state,
    targets: targets.map(describe),
    lower: lower.filter(inProject).map(describe),
    possible: kind === "call" ? possibleOf(node, name).map(describe) : [],
  });
}

function settle(node, kind, name, at, declarations, extra = [], others = []) {
  if (!declarations.length) return emit(node, kind, name, at, "unknown");
  const known = declarations.filter(inProject);
  if (!known.length && others.some(inProject)) return emit(node, kind, name, at, "project", [], others);
  if (!known.length) return emit(node, kind, name, at, "external");
  let chosen = bodies(known);
  if (chosen.length > 1 && !chosen.some((one) => one.body)) [chosen, others] = [chosen.slice(0, 1), [...others, ...chosen.slice(1)]];
  const nameless = chosen.filter((one) => isFunction(one) && !placeOf(one) && !one.name);
  if (nameless.length === chosen.length) return emit(node, kind, name, at, "unnamed");
  const lower = chosen.flatMap((one) => (ts.isClassLike(one) ? [] : lowerOf(one)));
  emit(node, kind, name, at, "project", [...chosen, ...extra.filter(inProject)], [...lower, ...others, ...others.flatMap(lowerOf)]);
}

function siteOf(callee) {
  const target = unwrap(callee);
  if (ts.isPropertyAccessExpression(target)) return [target.name.getText(), target.name.getStart()];
  if (ts.isIdentifier(target)) return [target.getText(), target.getStart()];
  return ["", target.getStart()];
}

function constructorsOf(symbol) {
  for (let depth = 0; symbol && depth < 30; depth++) {
    const cls = (symbol.declarations ?? []).find(ts.isClassLike);
    if (!cls) return [];
    const own = cls.members.filter((one) => ts.isConstructorDeclaration(one) && one.body);
    if (own.length) return own;
    const base = ts.getEffectiveBaseTypeNode?.(cls) ?? (cls.heritageClauses ?? []).find((c) => c.token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
    symbol = base && checker.getTypeAtLocation(base).symbol;
  }
  return [];
}

function constructed(node, kind, callee, superCall) {
  const [name, at] = superCall ? ["super", node.getStart()] : siteOf(callee);
  const type = checker.getTypeAtLocation(callee);
  const symbol = type.symbol ?? calleeSymbol(callee);
  const declared = (symbol?.declarations ?? []).filter((one) => ts.isClassLike(one) || ts.isFunctionLike(one));
  if (!declared.length) {
    const signature = checker.getResolvedSignature(node);
    const made = signature && checker.getReturnTypeOfSignature(signature).symbol;
    const state = type.flags & ts.TypeFlags.Any ? "unknown" : made && (made.declarations ?? []).some(inProject) ? "value" : "external";
    return emit(node, kind, name, at, state);
  }
  if (declared.some((one) => isType(one))) return emit(node, kind, name, at, "value");
  const makers = constructorsOf(symbol);
  if (superCall) return makers.length ? settle(node, "super", name, at, makers) : emit(node, "super", name, at, "external");
  settle(node, kind, name, at, declared, makers);
}

function called(node, kind, callee, named, place) {
  const [name, at] = named !== undefined ? [named, place] : siteOf(callee);
  const symbol = calleeSymbol(callee);
  const whole = unwrap(callee);
  if (ts.isPropertyAccessExpression(whole) && /^(call|apply)$/.test(name) && !(symbol?.declarations ?? []).some(inProject)) {
    // `f.call(…)` runs f.
    const inner = (calleeSymbol(whole.expression)?.declarations ?? []).flatMap((one) =>
      ts.isFunctionLike(one) && !isType(one) ? [one] : functionsOf(one));
    return inner.length ? settle(node, kind, name, at, inner) : emit(node, kind, name, at, "value");
  }
  const signature = checker.getResolvedSignature(node);
  const declaration = signature?.declaration;
  const held = symbol?.declarations ?? [];
  if (declaration && !isType(declaration) && ts.isFunctionLike(declaration)) {
    // A function with code is meant itself; a signature stands for the code that its symbol has.
    if (ts.isConstructorDeclaration(declaration)) return settle(node, kind, name, at, [declaration.parent], constructorsOf(declaration.parent.symbol));
    const own = declaration.symbol?.declarations?.filter(ts.isFunctionLike) ?? [];
    const others = held.flatMap((one) => (ts.isFunctionLike(one) && !isType(one) ? [one] : functionsOf(one)));
    return settle(node, kind, name, at, declaration.body ? [declaration] : own.length ? own : [declaration], [], others);
  }
  const written = held.flatMap((one) => (ts.isFunctionLike(one) && !isType(one) ? [one] : functionsOf(one)));
  if (written.length) return settle(node, kind, name, at, written);
  const members = held.filter((one) => ts.isPropertySignature(one) || ts.isPropertyDeclaration(one));
  if (members.length && members.some(inProject)) {
    // A member declared with a function type: the checker knows the declaration and those who may stand for it.
    return emit(node, kind, name, at, "value", [], members.flatMap(lowerOf));
  }
  if (held.some(inProject)) {
    const inside = held.filter(inProject).filter((one) => ts.isVariableDeclaration(one) || ts.isPropertyAssignment(one));
    return emit(node, kind, name, at, "value", [], inside.map((one) => one.initializer).filter(Boolean));
  }
  if (held.length) return emit(node, kind, name, at, "external");
  if (declaration) return emit(node, kind, name, at, inProject(declaration) ? "value" : "external");
  emit(node, kind, name, at, "unknown");
}

function accessed(node, name, at, written) {
  const symbol = aliased(checker.getSymbolAtLocation(name));
  const flag = written ? ts.isSetAccessor : ts.isGetAccessor;
  const declared = symbol?.declarations ?? [];
  const [found, ...others] = declared.filter(flag);
  if (!found || !inProject(found)) {
    // A plain property of a class or literal is none; that of an interface may be one in what implements it.
    const plain = declared.some((one) => ts.isPropertyDeclaration(one) || ts.isPropertyAssignment(one) || ts.isParameter(one));
    if (accessors.has(name.text)) emit(node, written ? "set" : "get", name.getText(), at, plain ? "plain" : "unknown");
    return;
  }
  settle(node, written ? "set" : "get", name.getText(), at, [found], [], others);
}

function isWritten(node) {
  const above = node.parent;
  return ts.isBinaryExpression(above) && above.left === node && ts.isAssignmentOperator(above.operatorToken.kind);
}

// Functions of the project that are handed over: whoever calls them, the line is not where they are called by name.
function handed(node) {
  for (const argument of node.arguments ?? []) {
    const value = unwrap(argument);
    const held = ts.isIdentifier(value) || ts.isPropertyAccessExpression(value) ? calleeSymbol(value)?.declarations ?? [] : [];
    const written = isFunction(value) ? [value] : held.flatMap((one) => (ts.isFunctionLike(one) && !isType(one) ? [one] : functionsOf(one)));
    const known = written.filter(inProject);
    if (known.length) emit(node, "handed", "", siteOf(node.expression)[1], "handed", [], known);
  }
}

function visit(node) {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) handed(node);
  if (ts.isCallExpression(node)) {
    if (node.expression.kind === ts.SyntaxKind.SuperKeyword) constructed(node, "super", node.expression, true);
    else if (node.expression.kind !== ts.SyntaxKind.ImportKeyword) {
      const decorator = ts.isDecorator(node.parent);
      called(node, decorator ? "decorator" : "call", node.expression);
    }
  } else if (ts.isNewExpression(node)) constructed(node, "new", node.expression, false);
  else if (ts.isTaggedTemplateExpression(node)) called(node, "tag", node.tag, undefined);
  else if (ts.isDecorator(node) && !ts.isCallExpression(node.expression)) called(node, "decorator", node.expression);
  else if ((ts.isJsxOpeningElement(node) || ts.isJsxSelfClosingElement(node)) && !/^[a-z][^.]*$/.test(node.tagName.getText())) {
    const symbol = calleeSymbol(node.tagName);
    const classes = (symbol?.declarations ?? []).filter(ts.isClassLike);
    const name = ts.isPropertyAccessExpression(node.tagName) ? node.tagName.name : node.tagName;
    if (classes.length) settle(node, "jsx", name.getText(), node.tagName.getStart(), classes, constructorsOf(symbol));
    else called(node, "jsx", node.tagName, name.getText(), node.tagName.getStart());
  } else if (ts.isPropertyAccessExpression(node)) {
    if (!isWritten(node) || node.parent.operatorToken.kind !== ts.SyntaxKind.EqualsToken) accessed(node, node.name, node.name.getStart(), false);
    if (isWritten(node)) accessed(node, node.name, node.name.getStart(), true);
  }
  ts.forEachChild(node, visit);
}

const sources = program.getSourceFiles().filter((file) => wanted.has(file.fileName));
for (const source of sources) collectHeirs(source), noteMembers(source);
for (const source of sources) visit(source);
process.stdout.write(JSON.stringify({ version: ts.version, files: sources.length, rows }));
