/**
 * A server: `node health-server.js SUBJECT PER_MS` computes /fibonacci/N in a pool, or, as `blocked`, on its own thread. It says its port.
 */
import { createServer } from 'node:http';
import { fibonacci, lastBits } from './fibonacci.js';
import { startPool } from './start.js';
import { workers } from './work.js';

const [subject, perMs] = process.argv.slice(2);
const compute =
  subject === 'blocked'
    ? fibonacci
    : (await startPool(subject, 'fibonacci', { workers, perMs: Number(perMs) })).call('fibonacci');

const server = createServer(async ({ url }, response) => {
  const n = /^\/fibonacci\/(\d+)$/.exec(url)?.[1];
  response.end(n === undefined ? 'ok' : lastBits(await compute(Number(n))));
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
