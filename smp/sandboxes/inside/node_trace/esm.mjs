// The hook on the thread of the loaders: rewrites ES modules of the checkout after every other loader has had them.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const { rewrite } = require('./rewrite.cjs');
const { isForeign } = require('./naming.cjs');

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!url.startsWith('file://') || loaded.source == null || loaded.format !== 'module') return loaded;
  const file = fileURLToPath(url);
  if (isForeign(file)) return loaded;
  const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
  return { ...loaded, source: rewrite(source, file, 'module').text };
}
