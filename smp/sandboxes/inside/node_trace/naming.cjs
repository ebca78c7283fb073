// What the functions of a source are called, by the rule that the graph names them by; and which files count.
'use strict';

const ROOT = '/work/';
const FOREIGN = ['/node_modules/', '/site-packages/', '/.venv/'];

const isForeign = (file) => !file.startsWith(ROOT) || FOREIGN.some((part) => file.includes(part));


// Name, and the node at which the definition stands.
function nameOf(node, parent, ancestors, source) {
  const own = node.id ? { name: node.id.name, at: node } : { name: null, at: node };
  switch (parent.type) {
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'Property':
      return parent.value === node ? { name: keyName(parent, source), at: parent.key } : own;
    case 'VariableDeclarator':
      return parent.id.type === 'Identifier' ? { name: parent.id.name, at: parent.id } : own;
    case 'AssignmentExpression':
      return assigned(parent.left, source) ?? own;
    case 'ExportDefaultDeclaration':
      return node.id ? own : { name: 'default', at: node };
    case 'CallExpression':
      return kept(node, parent) ?? own;
    default:
      return own;
  }
}

function keyName(parent, source) {
  const { key } = parent;
  if (parent.computed) return `[${source.slice(key.start, key.end)}]`;
  if (key.type === 'PrivateIdentifier') return `#${key.name}`;
  return key.type === 'Identifier' ? key.name : String(key.value);
}

function assigned(left, source) {
  if (left.type === 'Identifier') return { name: left.name, at: left };
  if (left.type !== 'MemberExpression' || left.computed) return null;
  const name = left.property.type === 'PrivateIdentifier' ? `#${left.property.name}` : left.property.name;
  const whole = source.slice(left.start, left.end);
  return { name: whole === 'module.exports' ? 'default' : name, at: left };
}

// esbuild's way of keeping a name: __name(() => {}, "name")
function kept(node, parent) {
  const [first, second] = parent.arguments;
  const named = parent.callee.type === 'Identifier' && /^__name\d*$/.test(parent.callee.name);
  return named && first === node && typeof second?.value === 'string' ? { name: second.value, at: node } : null;
}

// The function that a library has put around a whole module: what it runs is the module's body.
function wrapperOf(tree) {
  const [statement] = tree.body.filter((one) => one.directive === undefined);
  if (statement?.type !== 'ExpressionStatement' || tree.body.at(-1) !== statement) return null;
  let found = statement.expression;
  if (found.type === 'ObjectExpression' && found.properties.length === 1) found = found.properties[0].value;
  return /Function/.test(found?.type) && found.body.type === 'BlockStatement' ? found : null;
}


module.exports = { isForeign, nameOf, wrapperOf };
