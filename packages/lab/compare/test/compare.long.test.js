import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { processesWith } from '../../experiment/test/program.js';
import { compare } from './two-servers.js';

test('a proof that is seen in both is refused', async (t) => {
  const { said } = compare(t, { a: 'body fast', more: ['--proof', 'mode: fast'] });
  assert.equal(await said.ended, 3);
  assert.match(
    said.errors,
    /A.*: the feature was at work, and must not be.*\n--proof "mode: fast" is in A, too, in its output: "mode: fast /,
  );
});

test('memory that rises in one arm is reported', async (t) => {
  const more = ['--proof', 'mode: leak'];
  const { said, kept } = compare(t, { b: 'body leak', seconds: 2, more });
  assert.equal(await said.ended, 0, said.errors);
  const told = kept().notes.find((note) => note.startsWith('Memory of B'));
  assert.match(told, /^Memory of B rose by \d+\.\d MB\/s/);
  assert.ok(said.output.includes('Memory of B rose'), said.output);
});

test('a command may be all that a shell understands', async (t) => {
  const { said, folder } = compare(t, {
    before: `EXTRA='a b' NODE_OPTIONS="--max-old-space-size=512 --expose-gc"`,
    more: ['--proof', 'mode: fast a b'],
  });
  assert.equal(await said.ended, 0, said.errors);
  assert.deepEqual(processesWith(join(folder, 'app.cjs')), []);
});

test('a proof in the middle of a long log is found', async (t) => {
  const { said } = compare(t, { b: 'body long', more: ['--proof', 'mode: long'] });
  assert.equal(await said.ended, 0, said.errors);
});

test('the path of --health has the port, too', async (t) => {
  const more = ['--proof', 'mode: fast', '--health', '/port/{port}'];
  const { said } = compare(t, { more });
  assert.equal(await said.ended, 0, said.errors);
});

test('ignores differences that are to be ignored', async (t) => {
  for (const flags of [[], ['-R', '20']]) {
    const given = ['--proof', 'mode: fast', ...flags];
    const wanted = { a: 'body-1', b: 'body-2 fast' };
    const refused = compare(t, { ...wanted, more: given });
    assert.equal(await refused.said.ended, 3, refused.said.output);
    const ignored = compare(t, { ...wanted, more: [...given, '--ignore', '-\\d'] });
    assert.equal(await ignored.said.ended, 0, ignored.said.errors);
  }
});
