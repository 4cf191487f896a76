#!/usr/bin/env node
/**
 * The compute service under Node's own load balancing: one process for each core on one port, to which `node:cluster` hands
 * connections round robin. No task has a thread: each runs on the main thread of the process that got its connection.
 * `balanced.js PROCESSES [options of the service]`.
 */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { startPhotos } from '../../../examples/compute/photos/start.js';

const [count, ...args] = process.argv.slice(2);
const photos = await startPhotos({ log: console.error });

cluster.schedulingPolicy = cluster.SCHED_RR;
cluster.setupPrimary({
  exec: fileURLToPath(new URL('../../../examples/compute/main.js', import.meta.url)),
  // Each says where it listens; all listen on one port.
  args: ['--port', '0', '--threads', '1', '--photos', photos.url, ...args],
  stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
});

const processes = Array.from({ length: Number(count) }, () => cluster.fork());
let isWanted = true;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, async () => {
    isWanted = false;
    for (const each of processes) each.kill();
    await photos.close();
    process.exit(0);
  });
}
cluster.on('exit', () => {
  if (isWanted) process.exit(1);
});

let listening = 0;
cluster.on('listening', (_, { port }) => {
  listening += 1;
  if (listening === processes.length) console.log(`listening on http://127.0.0.1:${port}`);
});
