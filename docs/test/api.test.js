/** The pages of the API are those of the source, and the source says what they need. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { apiFolder, entryPoints, readApi } from '../../scripts/lib/docs.js';
import { read, root } from '../../scripts/lib/paths.js';
import { unclearNumbers, undocumented, withoutDefault } from './lib/comments.js';

describe('the API', () => {
  let api;
  before(async () => {
    api = await readApi();
  });

  test('has a page for each entry point', () => {
    const names = entryPoints().map(({ name }) => `${name.replace(/^@?millrace\//, '')}.md`);
    assert.deepEqual([...api.pages.keys()].sort(), [...names, 'README.md'].sort());
  });

  test('has the pages that the source makes: make docs', () => {
    const kept = readdirSync(join(root, apiFolder), { recursive: true }).filter((name) =>
      name.endsWith('.md'),
    );
    assert.deepEqual(kept.sort(), [...api.pages.keys()].sort());
    for (const [name, text] of api.pages) {
      const old = read(join(apiFolder, name)).split('\n');
      const at = text.split('\n').findIndex((line, i) => line !== old[i]);
      assert.ok(old.join('\n') === text, `${name} is old from line ${at + 1} on: make docs`);
    }
  });

  test('has a doc comment for everything that is exported', () => {
    assert.deepEqual(undocumented(api.model), []);
  });

  test('tells unit, default and range of options that are numbers', () => {
    assert.deepEqual(unclearNumbers(api.model), []);
  });

  test('tells what holds where an option is left out', () => {
    assert.deepEqual(withoutDefault(api.model), []);
  });
});

test('finds exports without documentation', () => {
  const comment = (text) => ({ summary: [{ kind: 'text', text }] });
  const number = { type: 'intrinsic', name: 'number' };
  const flags = { isOptional: true };
  const option = (name, text) => ({ name, flags, type: number, comment: comment(text) });
  const options = {
    name: 'SomeOptions',
    comment: comment('Options.'),
    children: [
      option('good', 'Time in ms: 0 to 10, default 5.'),
      option('unit', 'How long: 0 to 10, default 5.'),
      option('range', 'Time in ms. Default 5.'),
      option('standard', 'Time in ms: 0 to 10.'),
      { ...option('needed', 'Time in ms: 0 to 10.'), flags: {} },
    ],
  };
  const model = { children: [{ name: 'millrace', children: [options, { name: 'bare' }] }] };
  assert.deepEqual(undocumented(model), ['millrace: bare']);
  assert.deepEqual(unclearNumbers(model), [
    'millrace: SomeOptions.unit has no unit',
    'millrace: SomeOptions.range has no range',
    'millrace: SomeOptions.standard has no default',
  ]);
  assert.deepEqual(withoutDefault(model), [
    'millrace: SomeOptions.standard does not say “Default: …”',
  ]);
});
