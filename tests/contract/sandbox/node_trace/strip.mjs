// A loader such as a project may have: takes the types out line by line and says by a source map where the rest was.
import { register } from 'node:module';

if (!import.meta.url.includes('?hooks')) register(`${import.meta.url}?hooks`);

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.mts')) return nextLoad(url, context);
  const { source } = await nextLoad(url, { ...context, format: 'module' });
  const lines = [];
  const mappings = [];
  let last = 0;
  String(source).replace(/interface \w+ \{[^}]*\}/, (text) => text.replace(/[^\n]/g, '')).split('\n').forEach((line, at) => {
    const plain = line.replace(/: (Item\[\]|Item|this|number)(?=[ ,);=]| \{)/g, '');
    if (!plain.trim() || plain.startsWith('//')) return;
    lines.push(plain);
    mappings.push(`AA${DIGITS[(at - last) << 1]}A`);
    last = at;
  });
  const map = { version: 3, sources: [url], names: [], mappings: mappings.join(';') };
  const inline = Buffer.from(JSON.stringify(map)).toString('base64');
  const text = `${lines.join('\n')}\n//# sourceMappingURL=data:application/json;base64,${inline}\n`;
  return { format: 'module', source: text, shortCircuit: true };
}
