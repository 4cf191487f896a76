import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'node:test';
import { GENERATOR, KEEP, nothingIsLeft, openedAt, SERVER } from './left.js';
import { startDemo, TINY } from './support.js';

test('two arms end to end: a table, code 0, and without a terminal the chat does not stay', async (t) => {
  const demo = startDemo(t, TINY);
  assert.equal(await demo.ended, 0, demo.output + demo.errors);
  assert.match(demo.output, /20 clients in 4 rooms, messages of 100 bytes/);
  assert.match(
    demo.output,
    /^ {2}\[4\/4\] equal load, round 1, adaptive .* messages\/s .* done\)$/m,
  );
  // A dash where a busy machine has let nothing through for a second.
  assert.match(demo.output, /^ {2}delivered messages\/s +[\d,.]+ +[\d,.]+ +(<?[\d.]+|–)× {2}\w+$/m);
  assert.match(demo.output, /^ {2}lost +0 +0$/m);
  assert.match(demo.output, /No terminal/);
  assert.doesNotMatch(demo.output, /\r|NaN|undefined/);
  assert.ok(!demo.output.includes(String.fromCharCode(27)), 'no colours without a terminal');
  assert.equal(demo.errors, '');
  await nothingIsLeft(demo);
});

const moments = {
  'before the server is up': [TINY, (demo) => demo.says('Load:')],
  'when the server has just been started': [TINY, (demo) => demo.runs(SERVER)],
  'during the load': [TINY, (demo) => demo.runs(GENERATOR)],
  'when the chat has been left running': [KEEP, openedAt],
};
for (const [moment, [args, reached]] of Object.entries(moments)) {
  test(`Ctrl-C ${moment} leaves nothing behind`, async (t) => {
    const demo = startDemo(t, args);
    await reached(demo);
    process.kill(-demo.child.pid, 'SIGINT'); // a terminal tells the whole group
    assert.equal(await demo.ended, 130);
    assert.equal(demo.errors, '');
    await nothingIsLeft(demo);
  });
}

test('a port that is taken: the next free one is used, and said', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address();
  const demo = startDemo(t, `--rounds 0 --keep --port ${port}`);
  const url = await openedAt(demo);
  assert.match(demo.output, new RegExp(`Port ${port} is taken; the chat has the next free one`));
  assert.ok(Number(new URL(url).port) > port);
  assert.equal((await fetch(new URL('/health', url))).status, 200);
});

test('a wrong option is one sentence, with code 2', async (t) => {
  const demo = startDemo(t, '--seconds 0');
  assert.equal(await demo.ended, 2);
  assert.equal(demo.output, '');
  assert.match(
    demo.errors,
    /^node packages\/lab\/run\/demo\.js: --seconds is "0"; allowed are whole numbers from 1 to 60\. See .* --help\.\n$/,
  );
});

test('--help lists the options, with code 0', async (t) => {
  const demo = startDemo(t, '--help');
  assert.equal(await demo.ended, 0);
  assert.match(demo.output, /^Usage: node packages\/lab\/run\/demo\.js/);
});
