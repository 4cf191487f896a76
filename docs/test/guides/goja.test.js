/** The guide "Run goja": its program gets the same prices in both ways, with fewer queries where they gather. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { goCommand, goEnvironment } from '../../../scripts/lib/go.js';
import { root } from '../../../scripts/lib/paths.js';
import { commandsOf } from '../lib/shell.js';
import { guide, output, place, shows } from '../lib/walk.js';

const block = guide('docs/guides/goja.md');
const install = guide('docs/getting-started.md')('install-3');

test('many goroutines share queries', { skip: !goCommand() && 'needs Go' }, async (t) => {
  const folder = place(t, { 'main.go': block('the-program') });
  const here = { cwd: folder, env: goEnvironment({ race: true }) };
  for (const [command, ...args] of commandsOf(install.replaceAll('/path/to/millrace', root))) {
    await output(t, command, args, here);
  }
  // What `go mod tidy` would fetch the sums for.
  copyFileSync(join(root, 'go/goja/go.sum'), join(folder, 'go.sum'));
  await output(t, 'go', ['mod', 'tidy'], here);
  await output(t, 'go', ['vet', '.'], here);
  await output(t, 'go', ['build', '-o', 'prices', '.'], here);
  const runs = [];
  for (const args of [[], ['batch']]) runs.push(await output(t, './prices', args, here));
  assert.ok(shows(block('see-that-it-works-2'), runs.join('')), runs.join(''));
  const [each, gathered] = runs.map((line) => Number(/(\d+) queries/.exec(line)[1]));
  assert.equal(each, 2000);
  assert.ok(gathered < each, runs[1]);
});
