/** Two workers with an emitter each; the first process prints the metrics of both as prom-client adds them up. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { prometheus } from '@millrace/monitor/metrics';
import { BatchEmitter } from 'millrace';
import { AggregatorRegistry } from 'prom-client';

const registry = new AggregatorRegistry();
if (cluster.isPrimary) {
  const workers = [cluster.fork({ BOUND: '100' }), cluster.fork({ BOUND: '10' })];
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  console.log(await registry.clusterMetrics());
  for (const worker of workers) worker.process.kill();
} else {
  prometheus();
  // What is pushed after the flush stays: the hold is longer than all of this.
  const emitter = new BatchEmitter({
    policy: 'fixed',
    maxDelay: 60_000,
    maxQueue: Number(process.env.BOUND),
  });
  emitter.on('event', () => {});
  for (let i = 0; i < 3; i++) emitter.emit('event');
  emitter.flush();
  emitter.emit('event');
  process.send('ready');
}
