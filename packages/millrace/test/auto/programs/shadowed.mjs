/** `guard-shadow`: a server whose handlers hold the loop, and more requests at once than it has time for. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const { features, settings } = process[Symbol.for('millrace.auto')];
assert.deepEqual(settings.guard, { observe: true, maxWait: 20 });
const server = createServer((_req, res) => {
  for (const end = performance.now() + 30; performance.now() < end; );
  res.end('ok');
}).listen(0, '127.0.0.1');
while (features.guard.state === 'waiting') await sleep(2);
const ask = async () => (await fetch(`http://127.0.0.1:${server.address().port}/`)).status;
const statuses = await Promise.all(Array.from({ length: 20 }, ask));
assert.deepEqual(new Set(statuses), new Set([200]));
server.closeAllConnections();
server.close();
