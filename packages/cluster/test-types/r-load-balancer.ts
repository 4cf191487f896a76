// @millrace/cluster/r-load-balancer as its users' compilers see it.
import { createServer } from 'node:http';
import type { Cluster, ClusterWorker } from '@millrace/cluster';
import {
  type AllocatorOptions,
  detectIdleCores,
  dynamicResourceAllocator,
  getFileChunks,
  getHealthMetrics,
  getIdleCores,
  getMemoryUsage,
  type HealthMetrics,
  type LoadBalancerOptions,
  manageCpuBoundTasks,
  type QueuedTask,
  runWorkerTask,
  startLoadBalancer,
  type WorkerTask,
} from '@millrace/cluster/r-load-balancer';

const heapUsed: number = getMemoryUsage().heapUsed;
const task: WorkerTask = { filename: './tasks.js', name: 'fibonacci' };
const number: Promise<bigint> = runWorkerTask<bigint>(task, 90);
const unknownResult: Promise<unknown> = runWorkerTask(new URL('file:///tasks.js'));
// @ts-expect-error: never code, nor functions
runWorkerTask(() => 1);
const idle: number = detectIdleCores(0.2) + detectIdleCores();
const shares: number[] = getIdleCores().map(({ cpu, idleShare }) => cpu * idleShare);
const allocator: AllocatorOptions = { interval: 500, log: (line: string) => line.length };
const stop: () => void = dynamicResourceAllocator(allocator);
// @ts-expect-error: no such option
dynamicResourceAllocator({ every: 500 });
const options: LoadBalancerOptions = { workers: { min: 1, max: 2 }, reserve: 0.1, allocator };
// @ts-expect-error: the port is a parameter
const wrong: LoadBalancerOptions = { port: 1 };
const served: Promise<Cluster | ClusterWorker> = startLoadBalancer(createServer(), 3000, options);
const files: Promise<Cluster | ClusterWorker> = startLoadBalancer('./app.js');
const queue: QueuedTask[] = [{ task, data: 1 }, { task: './tasks.js' }];
const results: Promise<unknown>[] = manageCpuBoundTasks(queue);
const health: HealthMetrics = getHealthMetrics();
const queued: number | undefined = health.tasks?.queued.total;
const chunks: Promise<number[]> = getFileChunks('./file', { minBytes: 10 }).then((all) =>
  all.map(({ start, end }) => end - start),
);
void [heapUsed, number, unknownResult, idle, shares, stop, wrong, served, files, results, queued];
void [chunks, health.cpu.cores.idle, health.memory.process.rss, health.uptime.system];
