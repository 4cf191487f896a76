/**
 * A server whose requests are tasks of a pool of its own: `node replaced-server.js STEPS PORT`, by itself or as a process of a
 * cluster. The pool is made for the first request, so that the start is that of a bare server.
 */
import cluster from 'node:cluster';
import { createServer } from 'node:http';

const [steps, port] = process.argv.slice(2);
let running = null;

async function start() {
  process.env.POOL_SHORT_STEPS = steps;
  const { subjects } = await import('./subjects.js');
  const pool = await subjects.millrace(1, 'spin');
  return pool.call('spin');
}

const server = createServer(async ({ url }, response) => {
  running ??= start();
  const spin = await running;
  response.end(`${process.pid} ${await spin(Number(url.slice(1)))}`);
});
server.listen(Number(port), '127.0.0.1', () => {
  if (cluster.isPrimary) process.send({ port });
});
// In a cluster that is the cluster's affair.
if (cluster.isPrimary) process.once('disconnect', () => process.exit());
