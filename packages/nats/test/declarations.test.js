// Who does not use a broker need not have its client: of the declarations that a user's compiler reads one alone names it, and
// there it may be missing.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../', import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const entries = Object.values(exports)
  .flatMap((entry) => [entry.types, entry.import?.types, entry.require?.types])
  .filter((path) => path !== undefined);

/** The files that a declaration brings in, itself among them. */
function reached(url, seen = new Set()) {
  if (seen.has(url.href) || !existsSync(url)) return seen;
  seen.add(url.href);
  const text = readFileSync(url, 'utf8');
  for (const [, path] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
    reached(new URL(path.replace(/\.(c?)js$/, '.d.$1ts'), url), seen);
  }
  return seen;
}

for (const entry of entries) {
  test(`${entry} needs no types of the client`, () => {
    const files = [...reached(new URL(entry, root))];
    const naming = files.filter((file) => {
      const text = readFileSync(new URL(file), 'utf8');
      const allowed = text.replaceAll(/\/\*\* @ts-ignore \*\/\nexport type [^;]+;/g, '');
      return allowed.includes("'@nats-io/");
    });
    assert.deepEqual(naming, []);
  });
}

test('and none of the entry points loads it', async () => {
  for (const [path, entry] of Object.entries(exports)) {
    if (entry.default === undefined || path === './package.json') continue;
    const seen = new Set();
    const load = (url) => {
      if (seen.has(url.href) || !existsSync(url)) return;
      seen.add(url.href);
      const text = readFileSync(url, 'utf8');
      assert.doesNotMatch(text, /^(import|export) [^;]*from '@nats-io\//m, url.href);
      for (const [, next] of text.matchAll(/^(?:import|export) [^;]*from '(\.[^']+)'/gm))
        load(new URL(next, url));
    };
    load(new URL(entry.default, root));
    assert.ok(seen.size > 0);
  }
});
