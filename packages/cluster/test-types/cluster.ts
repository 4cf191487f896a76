// @millrace/cluster as its users' compilers see it.
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import start, {
  type App,
  type Cluster,
  type ClusterEvents,
  type ClusterHealth,
  type ClusterStats,
  type ClusterWorker,
  clusterHealth,
  type FastifyLike,
  healthHandler,
  type KoaLike,
  onClose,
  onDrain,
  onReport,
  type ProcessHealth,
  type ProcessName,
  type ProcessReport,
  type ProcessState,
  type ProcessStats,
  type ServeOptions,
  type SocketName,
  type Sticky,
  serve,
} from '@millrace/cluster';
import express from 'express';
import Fastify from 'fastify';

// what can be served
const byFile: Promise<Cluster> = serve('./app.js', { port: 3000 });
serve(new URL('file:///app.js'));
const byApp: Promise<Cluster | ClusterWorker> = serve(express(), { port: 3000 });
const fastify: FastifyLike = Fastify();
const koa: KoaLike = { callback: () => (_req, res) => res.end() };
const apps: App[] = [
  (_req, res) => res.end('hello'),
  createServer(),
  createTcpServer(),
  fastify,
  koa,
  () => createServer(),
  async () => Fastify(),
];
const same: typeof start = serve;
// @ts-expect-error: not an application
serve(5);
// @ts-expect-error: an application may run in this process, which has no `reload()`
serve(express()).then((served) => served.reload());

// which of the two it is
const served = await serve(express());
if (served.isPrimary) served.reload();
else served.server?.address();

// the options
const sticky: Sticky[] = [true, false, { header: 'x-client' }, { cookie: 'id', keepAlive: true }];
const options: ServeOptions = {
  port: 0,
  host: '127.0.0.1',
  workers: { min: 1, max: 4 },
  drainTimeout: 8000,
  reserve: 0.1,
  poolThreads: 1,
  sticky: true,
};
serve('./app.js', options);
// @ts-expect-error: no such option
serve('./app.js', { ports: 3000 });
// @ts-expect-error: a number of processes, or bounds
serve('./app.js', { workers: 'auto' });

// the cluster
const cluster = await byFile;
const stats: ClusterStats = cluster.stats();
const processes: readonly ProcessStats[] = stats.processes;
const states: ProcessState[] = ['starting', 'ready', 'draining', 'gone'];
const health: ClusterHealth = await cluster.health();
const one: ProcessHealth | undefined = health.processes[0];
const report: ProcessReport | null | undefined = one?.report;
const address: SocketName | null = cluster.address;
cluster.on('death', ({ pid, slot, code, signal }) => [pid, slot, code, signal]);
cluster.on('ready', (process: ProcessName) => process.slot);
const events: (keyof ClusterEvents)[] = ['ready', 'death', 'reload', 'scale', 'close'];
// @ts-expect-error: no such event
cluster.on('exit', () => {});
await cluster.close();

// in a process
const undo: (() => void)[] = [
  onDrain(() => {}),
  onClose(async () => {}),
  onReport(() => ({ sessions: 1 })),
];
// @ts-expect-error: reports are numbers
onReport(() => ({ sessions: 'many' }));
const all: Promise<ClusterHealth> = clusterHealth(1000);
express().get('/health', healthHandler);
createServer(healthHandler);

void [byApp, apps, same, sticky, processes, states, one, report, address, events, undo, all];
