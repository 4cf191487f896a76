/** ES modules get the very exports of the CommonJS modules. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';

const require = createRequire(import.meta.url);

describe('an import of a CommonJS module', () => {
  for (const name of [
    'errors',
    'installed',
    'options',
    'patch',
    'probe-server',
    'realm',
    'schema',
    'sources',
    'timers',
    'turn',
  ]) {
    test(`of ${name} gives what require() gives`, async () => {
      const specifier = `@millrace/base/${name}`;
      const imported = await import(specifier);
      const required = Object.entries(require(specifier));
      assert.ok(required.length > 1);
      for (const [key, value] of required) assert.equal(imported[key], value, key);
    });
  }
});
