/** The guide "Embed in C": its program stores all lines in both ways, and syncs less often where they leave together. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { prefix } from '../../../scripts/debian.js';
import { root } from '../../../scripts/lib/paths.js';
import { guide, output, place, shows } from '../lib/walk.js';

const block = guide('docs/guides/c.md');
const libuv = prefix('libuv1-dev');
const library = join(root, 'c/build/libuvbatch.a');

test('twenty threads share syncs', { skip: !libuv && 'needs libuv' }, async (t) => {
  assert.ok(existsSync(library), 'make setup builds it');
  const folder = place(t, { 'journal.c': block('the-program') });
  const here = { cwd: folder };
  // Where Debian unpacks libuv, and where everybody else has it.
  const places = ['lib', 'lib/x86_64-linux-gnu', 'lib/aarch64-linux-gnu']
    .map((path) => join(libuv, path))
    .filter(existsSync)
    .flatMap((path) => [`-L${path}`, `-Wl,-rpath,${path}`]);
  const includes = [`-I${join(root, 'c/include')}`, `-I${join(libuv, 'include')}`];
  await output(
    t,
    process.env.CC || 'cc',
    [
      '-O2',
      ...includes,
      'journal.c',
      library,
      ...places,
      '-luv',
      '-lm',
      '-lpthread',
      '-o',
      'journal',
    ],
    here,
  );
  const runs = [];
  for (const way of ['uv', 'batch']) runs.push(await output(t, './journal', [way], here));
  assert.ok(shows(block('see-that-it-works-2'), runs.join('')), runs.join(''));
  const [alone, together] = runs.map((line) => Number(/(\d+) syncs/.exec(line)[1]));
  assert.equal(alone, 2000);
  assert.ok(together < alone, runs[1]);
  const lines = (await readFile(join(folder, 'journal.log'), 'utf8')).trim().split('\n');
  assert.equal(lines.length, 4000);
  for (const n of [0, 99]) assert.equal(lines.filter((line) => line === `line ${n}`).length, 40);
});
