// The parser that this Node itself contains: it reads what this Node runs, and nothing has to be installed for it.
'use strict';

const NAME = 'internal/deps/acorn/acorn/dist/acorn';

function load() {
  const quiet = process.noDeprecation;
  process.noDeprecation = true; // DEP0111 is for us to know, not for the user's output
  try {
    const text = process.binding('natives')[NAME];
    if (typeof text !== 'string') throw new Error('this Node does not contain its parser');
    const made = { exports: {} };
    new Function('module', 'exports', text)(made, made.exports);
    return made.exports;
  } finally {
    process.noDeprecation = quiet;
  }
}

module.exports = load();
