/**
 * Processes for a server: as many as the load needs, replaced when they die, reloaded without losing a request.
 *
 * @module cluster
 */
export type { Cluster, ClusterEvents, ProcessName } from './cluster.js';
export { onClose, onDrain } from './drain.js';
export { clusterHealth, healthHandler, onReport } from './health.js';
export type { ServeOptions, Sticky } from './options.js';
export type { ProbesAddress } from './probes.js';
export type {
  ClusterHealth,
  ClusterStats,
  ProcessHealth,
  ProcessReport,
  ProcessState,
  ProcessStats,
  SocketName,
} from './protocol.js';
export { serve, serve as default } from './serve.js';
export type { ClusterStall } from './stalls.js';
export type { App, ClusterWorker, FastifyLike, KoaLike } from './worker.js';
