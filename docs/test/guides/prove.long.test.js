/** The guide "Prove it on your application": its commands measure its servers, and refuse in its words. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { read, root } from '../../../scripts/lib/paths.js';
import { commandsOf } from '../lib/shell.js';
import { guide, place, start } from '../lib/walk.js';

const PAGE = 'docs/guides/prove.md';
const block = guide(PAGE);
const files = { 'server.js': block('the-program'), 'chat.js': block('the-change-2') };

/**
 * One short round, which can show nothing, but does all that the command does. At twenty requests a second neither
 * generator nor server is the limit, however busy the machine is: a refusal is wrong.
 */
const SHORT = ['-n', '1', '-d', '1', '--warmup', '0.5', '-R', '20'];

/** The command of a block, short. */
function compare(t, name, change = (word) => word) {
  const [[, , ...words]] = commandsOf(block(name));
  const at = words.indexOf('-R');
  if (at >= 0) words.splice(at, 2);
  const own = words.map(change);
  const args = [join(root, 'packages/millrace/bin/millrace.js'), ...own, ...SHORT];
  return start(t, process.execPath, args, { cwd: place(t, files) });
}

/** Commands, and the metric that decides at a rate. */
for (const name of ['the-change', 'the-change-3', 'what-to-tune']) {
  test(`the command of ${name} measures`, async (t) => {
    const program = compare(t, name);
    assert.equal(await program.ended, 0, program.printed);
    assert.match(program.printed, /^CPU per \w+, µs \(lower is better\)\s.*undecided$/m);
  });
}

test('the command for CI fails on the given condition', async (t) => {
  const program = compare(t, 'what-to-tune', (word) => (word === 'worse' ? 'undecided' : word));
  assert.equal(await program.ended, 4, program.printed);
  assert.match(program.printed, /^--fail-on: CPU per request, B: undecided/m);
});

test('a misspelt flag is refused in the words of the guide', async (t) => {
  const program = compare(t, 'the-change', (word) => word.replace('--cache', '--cached'));
  assert.equal(await program.ended, 3, program.printed);
  const [, sentence] = /^- `(Refused[^`]*)` The proof was not seen/m.exec(read(PAGE));
  assert.ok(program.printed.includes(sentence), program.printed);
});
