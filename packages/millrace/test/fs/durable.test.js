/** That a durable append is synced is seen where a sync is impossible: /dev/null takes everything, but not that. */
import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import { appendFile } from 'millrace/fs';

const nothing = '/dev/null';
const refused = { code: 'EINVAL', message: 'EINVAL: invalid argument, fdatasync' };

test('an append is synced only when it is to be durable', async () => {
  await appendFile(nothing, 'x');
  await appendFile(nothing, 'x', { durable: false, flush: false });
  await assert.rejects(appendFile(nothing, 'x', { durable: true }), refused);
  await assert.rejects(appendFile(nothing, 'x', { flush: true }), refused);
  await assert.rejects(appendFile(nothing, 'x', { flush: true, durable: false }), refused);
});

test('a name that is nearly that of durable is refused, where Node.js would pass it over', async () => {
  for (const name of ['durible', 'Durable', 'durabel', 'durables']) {
    for (const path of [nothing, new URL('file:///dev/null'), Buffer.from(nothing)]) {
      await assert.rejects(appendFile(path, 'x', { [name]: true }), {
        code: 'MILLRACE_E_INVALID_OPTION',
        message: `appendFile(): unknown option '${name}' (is 'durable' meant?); known are durable`,
      });
    }
  }
  await appendFile(nothing, 'x', { duration: 5, unknown: 1, highWaterMark: 1024 });
});

test('a commit is synced when one of its records is to be durable; the others do not care', async () => {
  const outcomes = await Promise.allSettled([
    appendFile(nothing, 'one'),
    appendFile(nothing, 'two', { durable: true }),
    appendFile(nothing, 'three'),
    appendFile(nothing, 'four', { durable: true }),
  ]);
  assert.deepEqual(
    outcomes.map(({ reason }) => reason?.code),
    [undefined, 'EINVAL', undefined, 'EINVAL'],
  );
});

test('data that Node.js writes is synced, too', async () => {
  const durable = true;
  // It uses fsync, which does more.
  await assert.rejects(appendFile(nothing, ['x'], { durable }), {
    code: 'EINVAL',
    syscall: 'fsync',
  });
  const handle = await open(nothing, 'a');
  await appendFile(handle, 'x');
  await assert.rejects(appendFile(handle, 'x', { durable }), refused);
  await handle.close();
});
