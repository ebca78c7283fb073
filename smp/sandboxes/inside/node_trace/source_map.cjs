// Source maps (ECMA-426): where generated code comes from, and the map of code into which text was put.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const url = require('node:url');

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...DIGITS].map((digit, value) => [digit, value]));
const COMMENT = /\/\/[#@] ?sourceMappingURL=([^\s'"]+)/g;
const INLINE = /^data:application\/json[^,]*?(;base64)?,/;
const MAX_BYTES = 64 << 20;

function decode(mappings) {
  const lines = [];
  const state = [0, 0, 0, 0, 0];
  for (const line of mappings.split(';')) {
    state[0] = 0;
    const segments = [];
    for (const text of line ? line.split(',') : []) {
      const fields = [];
      let shift = 0;
      let value = 0;
      for (const digit of text) {
        const bits = VALUES.get(digit);
        value += (bits & 31) << shift;
        if (bits & 32) shift += 5;
        else {
          fields.push(value & 1 ? -(value >> 1) : value >> 1);
          shift = value = 0;
        }
      }
      segments.push(fields.map((field, number) => (state[number] += field)));
    }
    lines.push(segments);
  }
  return lines;
}

function encodeNumber(number) {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = '';
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest ? digit | 32 : digit];
  } while (rest);
  return text;
}

function encode(lines) {
  const state = [0, 0, 0, 0, 0];
  const texts = lines.map((segments) => {
    state[0] = 0;
    const encoded = segments.map((segment) =>
      segment
        .map((field, number) => {
          const text = encodeNumber(field - state[number]);
          state[number] = field;
          return text;
        })
        .join(''),
    );
    return encoded.join(',');
  });
  return texts.join(';');
}

// The last comment of a source that names its map; null when it has none, or one that does not read.
function find(source, file) {
  let found = null;
  for (const match of source.matchAll(COMMENT)) found = match;
  if (found === null) return null;
  try {
    const inline = INLINE.exec(found[1]);
    let text;
    if (inline) {
      const body = found[1].slice(inline[0].length);
      text = inline[1] ? Buffer.from(body, 'base64').toString() : decodeURIComponent(body);
    } else {
      const target = path.resolve(path.dirname(file), decodeURIComponent(found[1]));
      if (fs.statSync(target).size > MAX_BYTES) return null;
      text = fs.readFileSync(target, 'utf8');
    }
    const map = JSON.parse(text);
    if (typeof map.mappings !== 'string' || !Array.isArray(map.sources)) return null;
    return { map, lines: decode(map.mappings), at: found.index, length: found[0].length, inline: Boolean(inline) };
  } catch {
    return null;
  }
}

// File and line (1-based) that a generated position (0-based) comes from; null when the map does not say.
function original(found, file, line, column) {
  const segments = found.lines[line] ?? [];
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (segments[middle][0] <= column) low = middle + 1;
    else high = middle;
  }
  const segment = segments[low - 1];
  if (segment === undefined || segment.length < 4) return null;
  const source = found.map.sources[segment[1]];
  if (typeof source !== 'string') return null;
  const named = source.startsWith('file://') ? url.fileURLToPath(source) : source;
  const root = String(found.map.sourceRoot ?? '').replace(/^file:\/\//, '');
  return { file: path.resolve(path.dirname(file), root, named), line: segment[2] + 1 };
}

// The comment for a map whose columns have moved. moved: per line (0-based) [column, length] of what was put in, sorted.
function shifted(found, moved) {
  const lines = found.lines.map((segments, number) => {
    const inserted = moved.get(number);
    if (!inserted) return segments;
    let at = 0;
    let by = 0;
    return segments.map((segment) => {
      while (at < inserted.length && inserted[at][0] <= segment[0]) by += inserted[at++][1];
      return [segment[0] + by, ...segment.slice(1)];
    });
  });
  const map = { ...found.map, mappings: encode(lines) };
  const body = Buffer.from(JSON.stringify(map)).toString('base64');
  return `//# sourceMappingURL=data:application/json;charset=utf-8;base64,${body}`;
}

module.exports = { find, original, shifted };
