/**
 * A server that uses what the chat does not: a guard with more requests than it takes, a cached route, a pool, batches that are held,
 * an emitter whose events nobody handles or whose queue is full, one that holds as it pays and one that has not been asked to, a cluster
 * of one process, a watch of stalls, equal look-ups of a name, a bridge and durable tasks if there is a BROKER. Its metrics are at /metrics of a port that it prints.
 */
import { lookup } from 'node:dns';
import { createServer } from 'node:http';
import { serve } from '@millrace/cluster';
import { guard } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import { prometheus } from '@millrace/monitor/metrics';
import { stalls } from '@millrace/monitor/stalls';
import { bridge } from '@millrace/nats/events';
import { TaskClient, TaskWorker } from '@millrace/nats/tasks';
import { BatchEmitter } from 'millrace';
import 'millrace/auto';
import 'millrace/net';
import { Pool } from '@millrace/pool';
import { collectDefaultMetrics, register } from 'prom-client';

collectDefaultMetrics();
prometheus();
stalls({ log: false });

const pool = new Pool({ filename: new URL('./task.js', import.meta.url), maxThreads: 1 });
const held = new BatchEmitter({ policy: 'fixed', maxDelay: 20, maxQueue: 50, onLost: () => {} });
held.configure('late', { retain: { max: 100 } });
held.on('event', () => {});
const measured = new BatchEmitter({ maxDelay: 20, minSaving: 0 });
const unused = new BatchEmitter({ maxDelay: 20 });
measured.on('event', (work) => work());
unused.on('event', () => {});
const { BROKER: broker } = process.env;
if (broker) {
  bridge(held, { broker, events: ['event'] });
  const tasks = { broker, stream: 'metrics' };
  const filename = new URL('./task.js', import.meta.url);
  await new TaskWorker({ ...tasks, filename, maxThreads: 1 }).ready();
  await new TaskClient(tasks).run(5);
}

const hot = cached((_req, res) => res.end('cached'), { ttl: 60 });

const server = createServer(async (req, res) => {
  if (req.url === '/metrics') {
    res.setHeader('content-type', register.contentType);
    res.end(await register.metrics());
  } else if (req.url === '/cached') {
    hot(req, res);
  } else {
    await pool.run(5);
    res.end('done');
  }
});
// Two at a time, and two that wait: what comes beyond that is turned away.
guard(server, {
  concurrency: { initial: 2, min: 2, max: 2 },
  maxQueue: 2,
  rejectDelay: 0,
  classes: { '/low': 'low', '/cached': 'exempt' },
});
const app = new URL('./served.js', import.meta.url);
const cluster = await serve(app, {
  host: '127.0.0.1',
  port: 0,
  workers: 1,
  signals: false,
  log: false,
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.on('SIGTERM', async () => process.exit(await cluster.close()));
// Events come together, more than there is room for.
setInterval(() => {
  for (let i = 0; i < 2; i++) lookup('localhost', () => {});
  try {
    held.emit('nobody', 1);
    if (held.stats().retained.count < 90) held.emit('late', 1);
    for (let i = 0; i < 60; i++) held.emit('event', i);
  } catch (error) {
    if (error.code !== 'MILLRACE_E_OVERLOADED') throw error;
  }
}, 100);
// A batch costs about half a ms, and its events next to nothing.
setInterval(() => {
  let isOver = false;
  const work = () => {
    const until = performance.now() + 0.5;
    while (!isOver && performance.now() < until);
    isOver = true;
  };
  for (let i = 0; i < 10; i++) measured.emit('event', work);
}, 5);
