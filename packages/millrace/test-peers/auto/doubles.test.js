/** Test doubles of files, and packages that auto does not know: a program sees with auto what it sees without. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

const programs = join(import.meta.dirname, 'programs');
const auto = createRequire(import.meta.url).resolve('millrace/auto');

async function run(program, { preloads = [], env = {} } = {}) {
  const usual = Object.entries(process.env).filter(([name]) => !/^(NODE_|MILLRACE)/.test(name));
  const args = [...preloads.flatMap((path) => ['--require', path]), join(programs, program)];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...Object.fromEntries(usual), ...env },
  });
  return JSON.parse(stdout);
}

describe('a test double of files', () => {
  for (const [double, reason] of [
    ['mock-fs', /^functions beneath node:fs were replaced/],
    ['memfs', /^fs\.promises\.readFile was replaced before/],
  ]) {
    const env = { DOUBLE: double };
    const begins = join(programs, 'begins-double.cjs');

    test(`${double} is seen by the program when it begins later`, async () => {
      const plain = await run('sees-doubles.cjs', { env });
      const ours = await run('sees-doubles.cjs', { env, preloads: [auto] });
      assert.equal(ours.state, 'active');
      assert.deepEqual(ours.seen, plain.seen);
    });

    test(`${double} is seen by the program when it was there before auto`, async () => {
      const plain = await run('sees-doubles.cjs', { env, preloads: [begins] });
      const ours = await run('sees-doubles.cjs', { env, preloads: [begins, auto] });
      assert.deepEqual(ours.seen, plain.seen);
      assert.match(ours.why, reason);
    });
  }
});

test('ws 5 is left alone, and the program has the frames of its releases', async () => {
  const plain = await run('older-ws.cjs');
  const ours = await run('older-ws.cjs', { preloads: [auto] });
  assert.deepEqual(ours.messages, plain.messages);
  assert.equal(ours.messages.length, 60);
  assert.equal(ours.state, 'waiting');
  assert.match(
    ours.why,
    /^the class is WebSocket; it must be WebSocket of the ws package, version 6\.2\.1 to 8/,
  );
});
