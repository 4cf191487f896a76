/** Waiting calls are bounded; a refusal is an error that its caller sees, and later calls are taken again. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, test } from 'node:test';
import { collect } from '@millrace/monitor/metrics';
import { appendFile, configure, readFile, stats, writeFile } from 'millrace/fs';
import { folder } from './folder.js';

const defaults = {
  maxQueue: 1_000_000,
  maxPending: 64 * 1024 * 1024,
  maxQueueBytes: 256 * 1024 * 1024,
};
/** A call counts as its bytes and these. */
const callBytes = 256;

const refused = { name: 'MillraceError', code: 'MILLRACE_E_OVERLOADED' };

/** Number of calls that were taken; checks that all of them came before those that were refused. */
async function taken(calls) {
  const outcomes = await Promise.allSettled(calls);
  const count = outcomes.filter(({ status }) => status === 'fulfilled').length;
  for (const { reason } of outcomes.slice(count)) {
    assert.equal(reason.code, refused.code);
    assert.equal(reason.name, refused.name);
  }
  assert.ok(outcomes.slice(0, count).every(({ status }) => status === 'fulfilled'));
  return count;
}

const counted = () =>
  collect().find(({ name, labels }) => name === 'refused_total' && labels.source === 'fs').value;

describe('appendFile', () => {
  afterEach(() => configure(defaults));

  test('refuses what does not fit behind the bytes that wait for its file', async (t) => {
    const file = `${folder(t)}/file`;
    configure({ maxPending: 10 * (100 + callBytes) });
    const record = 'x'.repeat(100);
    const append = () => Array.from({ length: 15 }, () => appendFile(file, record));
    const before = [stats().refused, counted()];
    assert.equal(await taken(append()), 10);
    assert.deepEqual([stats().refused, counted()], [before[0] + 5, before[1] + 5]);
    assert.equal(readFileSync(file, 'utf8'), record.repeat(10));
    // Nothing waits any more.
    assert.equal(await taken(append()), 10);
    assert.equal(readFileSync(file, 'utf8'), record.repeat(20));
  });

  test('takes 255,166 small records at once, and refuses more, by default', async () => {
    const most = Math.floor(defaults.maxPending / (7 + callBytes));
    assert.equal(most, 255_166);
    const append = () => appendFile('/dev/null', 'a line\n');
    assert.equal(await taken(Array.from({ length: most + 10 }, append)), most);
  });

  test('bounds each file for itself, and all of them together', async (t) => {
    const path = folder(t);
    configure({ maxPending: 3 * callBytes, maxQueueBytes: 5 * callBytes });
    const names = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'c'];
    const outcomes = await Promise.allSettled(
      names.map((name) => appendFile(`${path}/${name}`, '')),
    );
    assert.deepEqual(
      outcomes.map(({ reason }) => reason?.code),
      [
        undefined,
        undefined,
        undefined,
        refused.code,
        undefined,
        undefined,
        refused.code,
        refused.code,
      ],
    );
  });

  test('takes a record of any size where nothing waits', async (t) => {
    const file = `${folder(t)}/file`;
    configure({ maxPending: 1, maxQueueBytes: 1 });
    for (const size of [10, 400_000, 700_000]) {
      await appendFile(file, 'x'.repeat(size));
      assert.equal(await taken([appendFile(file, 'y'), appendFile(file, 'y')]), 1);
    }
  });

  test('counts what is passed on to Node.js, and what failed, no longer than it lasts', async (t) => {
    const path = folder(t);
    configure({ maxPending: 2 * callBytes });
    const { signal } = new AbortController();
    for (let round = 0; round < 5; round++) {
      await assert.rejects(appendFile(`${path}/none/file`, 'x'), { code: 'ENOENT' });
      await appendFile(`${path}/file`, ['x', 'y']);
      await appendFile(`${path}/file`, 'x', { signal });
      const controller = new AbortController();
      const aborted = appendFile(`${path}/file`, 'x', { signal: controller.signal });
      controller.abort();
      await assert.rejects(aborted, { name: 'AbortError' });
    }
    assert.equal(await taken([1, 2, 3].map(() => appendFile(`${path}/file`, ''))), 2);
  });

  test('counts nothing for a record for which there is no memory', async (t) => {
    const file = `${folder(t)}/file`;
    configure({ maxPending: 1 });
    const { allocUnsafeSlow } = Buffer;
    Buffer.allocUnsafeSlow = () => {
      throw new RangeError('no memory');
    };
    try {
      await assert.rejects(appendFile(file, 'x'.repeat(400_000)), RangeError);
    } finally {
      Buffer.allocUnsafeSlow = allocUnsafeSlow;
    }
    assert.equal(await taken([1, 2].map(() => appendFile(file, 'x'))), 1);
    assert.equal(readFileSync(file, 'utf8'), 'x');
  });

  test('says what waits and what to do', async (t) => {
    const file = `${folder(t)}/file`;
    configure({ maxPending: 1 });
    const first = appendFile(file, 'x');
    await assert.rejects(appendFile(file, 'x'), {
      message:
        'appendFile: 257 bytes wait; maxPending, for one file, is 1, and maxQueueBytes, for all, 268435456; await earlier calls, call less, or raise the bound',
    });
    await first;
  });
});

describe('writeFile', () => {
  afterEach(() => configure(defaults));

  test('is bounded with the appends to its file', async (t) => {
    const file = `${folder(t)}/file`;
    configure({ maxPending: 1000 + 3 * callBytes });
    const calls = [
      writeFile(file, Buffer.alloc(1000)),
      appendFile(file, ''),
      writeFile(file, ['x']),
      writeFile(file, 'no room'),
      appendFile(file, 'no room'),
    ];
    assert.equal(await taken(calls), 3);
    assert.equal(readFileSync(file, 'utf8'), 'x');
  });
});

describe('readFile', () => {
  afterEach(() => configure(defaults));

  test('refuses a read when as many as may be are under way', async (t) => {
    const file = `${folder(t)}/file`;
    writeFileSync(file, 'content');
    configure({ maxQueue: 20 });
    const before = stats().refused;
    const read = () => Array.from({ length: 30 }, () => readFile(file, 'utf8'));
    assert.equal(await taken(read()), 20);
    assert.equal(stats().refused, before + 10);
    // Also those that wait for a write, and those that fail.
    const writing = writeFile(file, 'new');
    assert.equal(await taken(read()), 20);
    await writing;
    await Promise.allSettled(Array.from({ length: 20 }, () => readFile(`${file}/none`)));
    assert.equal(await taken(read()), 20);
  });
});

describe('configure', () => {
  test('refuses an option that is unknown or out of range, and changes nothing then', async (t) => {
    const code = 'MILLRACE_E_INVALID_OPTION';
    for (const options of [
      { maxPendingBytes: 1 },
      { maxPending: 0 },
      { maxQueue: 1, maxPending: 1.5 },
      { maxQueue: 1, maxQueueBytes: '1' },
      null,
      5,
    ]) {
      assert.throws(() => configure(options), { code });
    }
    const file = `${folder(t)}/file`;
    writeFileSync(file, 'content');
    await Promise.all([
      readFile(file),
      readFile(file),
      appendFile(file, 'x'),
      appendFile(file, 'x'),
    ]);
  });
});
