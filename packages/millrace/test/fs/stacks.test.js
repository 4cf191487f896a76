/** The stack of an error names the async functions that wait for the call, as one of Node.js does. */
import assert from 'node:assert/strict';
import { promises, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { appendFile, readFile, writeFile } from 'millrace/fs';
import { folder } from './folder.js';

const calls = {
  'readFile of a missing file': () => readFile('none/file'),
  'readFile of a folder': () => readFile('.'),
  'readFile with a flag that Node.js knows': () => readFile('none/file', { flag: 'r+' }),
  'appendFile to a missing folder': () => appendFile('none/file', 'x'),
  'appendFile without room': () => appendFile('/dev/full', 'x'),
  'appendFile that cannot be synced': () => appendFile('/dev/null', 'x', { durable: true }),
  'appendFile that Node.js carries out': () => appendFile('none/file', ['x']),
  'writeFile to a missing folder': () => writeFile('none/file', 'x'),
};
/** What Node.js itself does, with its own errors. */
const left = new Set(['readFile with a flag that Node.js knows', 'writeFile to a missing folder']);

async function loadConfig(call) {
  return await call();
}
async function handler(call) {
  return await loadConfig(call);
}

const waiting = /\n +at async loadConfig .*\n +at async handler /;

/** Node.js 26 names nobody. */
const isNamedByNode = await handler(() => promises.writeFile('none/file', 'x')).catch(({ stack }) =>
  waiting.test(stack),
);

const assertNamed = (call, isLeft = false) =>
  assert.rejects(handler(call), ({ stack, message }) => {
    assert.ok(stack.includes(message));
    if (isNamedByNode || !isLeft) assert.match(stack, waiting);
    return true;
  });

describe('the stack of a failed', () => {
  for (const [title, call] of Object.entries(calls)) {
    test(title, () => assertNamed(call, left.has(title)));
  }

  test('call that waits for another one', async (t) => {
    const file = `${folder(t)}/file`;
    writeFileSync(file, '');
    for (const call of [
      () => readFile(`${file}/none`),
      () => appendFile(`${file}/none`, 'x'),
      () => appendFile(`${file}/none`, ['x']),
      () => writeFile(`${file}/none`, 'x'),
      () => readFile(`${file}/none`, { flag: 'r', encoding: 'UTF8' }),
    ]) {
      const before = writeFile(`${file}/none`, 'x').catch(() => {});
      await assertNamed(call, true);
      await before;
    }
  });

  test('call that is gathered with those of others', async () => {
    const others = [readFile('none').catch(() => {}), appendFile('none/file', 'x').catch(() => {})];
    await assertNamed(calls['readFile of a missing file']);
    await assertNamed(calls['appendFile to a missing folder']);
    await Promise.all(others);
  });
});
