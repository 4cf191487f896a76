/**
 * Processes for a server: as many as the load needs, replaced when they die, reloaded without losing a request.
 *
 * @module cluster
 */
export type { App, FastifyLike, KoaLike } from './application.js';
export type { Cluster, ClusterEvents, ProcessName } from './cluster.js';
export { clusterHealth, healthHandler } from './health.js';
export { onClose, onDrain, onReport } from './hooks.js';
export type { ServeOptions, Sticky } from './options.js';
export type { SocketName } from './protocol.js';
export type {
  ClusterHealth,
  ClusterStats,
  ProcessHealth,
  ProcessReport,
  ProcessState,
  ProcessStats,
} from './report.js';
export { serve, serve as default } from './serve.js';
export type { ClusterWorker } from './worker.js';
