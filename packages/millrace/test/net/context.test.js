/** AsyncLocalStorage in the callbacks of writes. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { coalesce } from 'millrace/net';
import { openPair, range } from './pair.js';

test('each callback runs in the context of its write', async (t) => {
  const { socket } = await openPair(t);
  coalesce(socket);
  const storage = new AsyncLocalStorage();
  const seen = await Promise.all(
    range(6).map((n) =>
      storage.run(n, () => {
        return new Promise((resolve) => {
          const done = () => resolve(storage.getStore());
          if (n % 2) socket.write('x', 'utf8', done);
          else socket.write('x', done);
        });
      }),
    ),
  );
  assert.deepEqual(seen, range(6));
});
