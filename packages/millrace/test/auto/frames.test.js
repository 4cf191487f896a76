/** What applications send by ws and socket.io under auto is what they send without it, in the same order and at the same time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { preloads, programs, runJson } from './run.js';

async function runPlain(program, args = []) {
  const plain = await runJson([programs + program, ...args]);
  assert.equal(plain.state, 'none');
  return plain;
}

/** With auto, loaded in both ways, or in the one that is named: the long programs take one each. */
async function runAuto(program, { args = [], ways = Object.keys(preloads) } = {}) {
  const auto = await Promise.all(
    ways.map((way) => runJson([...preloads[way], programs + program, ...args])),
  );
  for (const { state } of auto) assert.equal(state, 'active');
  return auto;
}

/** Runs a program without auto and with it. */
async function runBoth(program, options = {}) {
  const plain = await runPlain(program, options.args);
  return { plain, auto: await runAuto(program, options) };
}

/** With which two tests compare. */
const plainSocketIo = runPlain('socket-io.mjs');

test('socket.io: volatile packets, acknowledgements and orders are the same, whatever the bursts', async () => {
  const plain = await plainSocketIo;
  const auto = await runAuto('socket-io.mjs', { ways: ['--import'] });
  assert.ok(plain.received.every((messages) => messages.length > 0));
  for (const { received, acknowledged, unwritten, queuedTogether } of auto) {
    for (const n of plain.received.keys()) {
      assert.deepEqual(received[n], plain.received[n]);
      assert.deepEqual(acknowledged[n], plain.acknowledged[n]);
    }
    assert.ok(unwritten > 0, 'frames have left together');
    assert.ok(queuedTogether > 0, 'broadcasts have waited together');
  }
});

test('socket.io: a program that looks into a broadcast sees what it would see, and all have it when emit returns', async () => {
  const { plain, auto } = await runBoth('socket-io-loops.mjs', { ways: ['--require'] });
  assert.ok(plain.waited > 0);
  assert.equal(plain.held, 0);
  for (const { log, received, waited, held, queuedTogether } of auto) {
    assert.deepEqual(log, plain.log);
    assert.equal(waited, plain.waited);
    for (const n of plain.received.keys()) assert.deepEqual(received[n], plain.received[n]);
    assert.ok(held > 0, 'frames have waited for the end of a broadcast');
    assert.ok(queuedTogether > 0, 'broadcasts have waited together');
  }
});

test('socket.io: with another adapter, broadcasts are queued one by one', async () => {
  const plain = await plainSocketIo;
  const auto = await runAuto('socket-io.mjs', { args: ['own-adapter'], ways: ['--require'] });
  for (const { received, acknowledged, unwritten, queuedTogether } of auto) {
    assert.deepEqual(received, plain.received);
    assert.deepEqual(acknowledged, plain.acknowledged);
    assert.ok(unwritten > 0, 'frames have left together');
    assert.equal(queuedTogether, 0);
  }
});

test('a frame is there before the program goes on, and an error comes in its tick', async () => {
  const { plain, auto } = await runBoth('ws-waits.mjs', { ways: ['--require'] });
  /** The first error that the system has reported; later ones depend on what else was written. */
  const outline = ([...logs]) =>
    logs.map((log) => {
      const [, code] = log.find(([, code]) => code !== undefined);
      return { code, names: log.map(([name]) => name) };
    });
  for (const { logs } of auto) assert.deepEqual(outline(logs), outline(plain.logs));
});

for (const [version, ways] of [
  ['ws', ['--import']],
  ['ws-7', ['--require']],
  ['ws-6', ['--import']],
]) {
  test(`${version}: messages, callbacks and what is buffered are the same`, async () => {
    const { plain, auto } = await runBoth('versions.cjs', { args: [version], ways });
    for (const { sent, saved, unwritten } of auto) {
      assert.deepEqual(sent, plain.sent);
      assert.ok(saved > 0, 'some have been encoded once');
      assert.ok(unwritten > 0, 'some have left together');
    }
  });
}

test('a class that is derived from the one of ws is not taken for the application calling install()', async () => {
  const result = await runJson([...preloads['--import'], `${programs}derived-class.mjs`]);
  assert.deepEqual(result, { state: 'active', why: null, frames: 2 });
});
