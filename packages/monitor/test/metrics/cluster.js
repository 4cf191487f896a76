/** Two workers with an emitter each; the first process prints the metrics of both as prom-client adds them up. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { prometheus } from '@millrace/monitor/metrics';
import { BatchEmitter } from 'millrace';
import { AggregatorRegistry } from 'prom-client';

const registry = new AggregatorRegistry();

/** Metrics of all processes. prom-client gives its workers 5 s, which a busy machine may need more often than once. */
async function metricsOfAll(tries = 20) {
  try {
    return await registry.clusterMetrics();
  } catch (error) {
    if (tries === 1) throw error;
    return metricsOfAll(tries - 1);
  }
}

if (cluster.isPrimary) {
  const workers = [cluster.fork({ BOUND: '100' }), cluster.fork({ BOUND: '10' })];
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  console.log(await metricsOfAll());
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
