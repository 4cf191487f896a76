/** AbortSignal: before the call, while it waits, while it is under way, afterwards. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { appendFile, readFile, stats, writeFile } from 'millrace/fs';
import { folder } from './folder.js';
import { describeError, same } from './same.js';

const arrange = (path) => writeFileSync(`${path}/file`, 'content');
const reasons = [undefined, 'a text', new RangeError('an error'), null];

for (const reason of reasons) {
  const title = `reason: ${reason}`;
  const aborted = () => ({ signal: AbortSignal.abort(reason) });
  same(`readFile, aborted before, ${title}`, (fs, path) => fs.readFile(`${path}/file`, aborted()), {
    arrange,
  });
  same(
    `writeFile, aborted before, ${title}`,
    (fs, path) => fs.writeFile(`${path}/file`, 'x', aborted()),
    {
      arrange,
    },
  );
  same(
    `appendFile, aborted before, ${title}`,
    (fs, path) => fs.appendFile(`${path}/file`, 'x', aborted()),
    {
      arrange,
    },
  );
  same(
    `readFile, aborted in its tick, ${title}`,
    (fs, path) => {
      const controller = new AbortController();
      const reading = fs.readFile(`${path}/file`, { signal: controller.signal });
      controller.abort(reason);
      return reading;
    },
    { arrange },
  );
}

same('readFile of a missing file, aborted before', (fs, path) =>
  fs.readFile(`${path}/none`, { signal: AbortSignal.abort() }),
);
same('a signal that is never aborted', async (fs, path) => {
  const { signal } = new AbortController();
  await fs.writeFile(`${path}/file`, 'one ', { signal });
  await fs.appendFile(`${path}/file`, 'two', { signal });
  return fs.readFile(`${path}/file`, { signal, encoding: 'utf8' });
});
same(
  'a signal that is aborted afterwards',
  async (fs, path) => {
    const controller = new AbortController();
    const { signal } = controller;
    const data = await fs.readFile(`${path}/file`, { signal });
    controller.abort();
    return data;
  },
  { arrange },
);

test('a read that is aborted under way is rejected', async (t) => {
  const path = folder(t);
  arrange(path);
  const controller = new AbortController();
  const { readBatches } = stats();
  const reading = readFile(`${path}/file`, { signal: controller.signal });
  // Behind the hand-over, which is in this queue, too.
  process.nextTick(() => {
    assert.equal(stats().readBatches, readBatches + 1);
    controller.abort('late');
  });
  const outcome = await reading.then(() => 'read', describeError);
  // The page cache answers within the hand-over: then it is over before.
  if (outcome === 'read') assert.ok(stats().onLoop > 0);
  else assert.equal(outcome.cause, 'late');
});

test('an append that is aborted before its commit is not written; the others are', async (t) => {
  const file = `${folder(t)}/file`;
  const controller = new AbortController();
  const { signal } = controller;
  const all = [
    appendFile(file, 'one '),
    appendFile(file, 'two ', { signal }),
    appendFile(file, 'three'),
  ];
  controller.abort();
  const outcomes = await Promise.allSettled(all);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const { name, code, message } = outcomes[1].reason;
  assert.deepEqual([name, code, message], ['AbortError', 'ABORT_ERR', 'The operation was aborted']);
  assert.equal(outcomes[1].reason.cause, signal.reason);
  assert.equal(readFileSync(file, 'utf8'), 'one three');
});

test('a commit of which all is aborted does not make the file, and holds up nothing', async (t) => {
  const path = folder(t);
  const file = `${path}/file`;
  const controller = new AbortController();
  const appending = appendFile(file, 'x', { signal: controller.signal });
  const reading = readFile(file);
  controller.abort();
  await assert.rejects(appending, { name: 'AbortError' });
  await assert.rejects(reading, { code: 'ENOENT' });
});

test('a call aborted while it waits for another is rejected and does nothing', async (t) => {
  const file = `${folder(t)}/file`;
  const controller = new AbortController();
  const { signal } = controller;
  const first = writeFile(file, 'first');
  const all = [
    writeFile(file, 'second', { signal }),
    readFile(file, { signal }),
    appendFile(file, 'third', { signal }),
    readFile(file, { signal, encoding: 'HEX' }),
  ];
  controller.abort();
  await first;
  for (const { reason } of await Promise.allSettled(all)) assert.equal(reason?.name, 'AbortError');
  assert.equal(await readFile(file, 'utf8'), 'first');
});

test('a call with an aborted signal does not wait', async (t) => {
  const file = `${folder(t)}/file`;
  const order = [];
  const first = writeFile(file, 'first').then(() => order.push('written'));
  const signal = AbortSignal.abort();
  const aborted = [readFile, (...args) => appendFile(args[0], 'x', args[1])].map((call) =>
    call(file, { signal }).catch((error) => order.push(error.name)),
  );
  await Promise.all([first, ...aborted]);
  assert.deepEqual(order, ['AbortError', 'AbortError', 'written']);
});
