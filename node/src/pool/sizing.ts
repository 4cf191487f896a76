/** How many threads a pool has: by the share of the machine that its process has. */
import { builtin } from '../core/builtin.cjs';
import { throwLater } from '../core/turn.cjs';
import { limits } from '../monitor/limits.js';

/** The share of a process of a cluster: CPUs, possibly a fraction. Set in its environment, and sent again when it changes. */
const variable = 'MILLRACE_CPUS';
const key = 'millrace:cpus';

/** A number of CPUs; null for anything else. */
function cpusOf(value: unknown): number | null {
  const cpus = typeof value === 'string' ? Number(value) : value;
  return typeof cpus === 'number' && cpus > 0 ? cpus : null;
}

/**
 * CPUs that this process may use, not rounded: the least of its affinity, the quotas of its control groups, and its share
 * in a cluster (environment variable MILLRACE_CPUS; one that is no number above 0 is ignored). Reads small files of the kernel:
 * a fraction of a ms.
 */
export function cpuShare(): number {
  const { cpus } = limits();
  return Math.min(cpus, cpusOf(process.env[variable]) ?? cpus);
}

type ShareListener = (cpus: number) => void;
const listeners = new Set<{ readonly call: ShareListener }>();

/** Loading node:cluster takes some ms. In a process of a cluster it is loaded already, and others mostly have no channel. */
const isClusterWorker = (): boolean =>
  process.channel !== undefined &&
  (builtin('node:cluster') as { isWorker?: boolean }).isWorker === true;

/**
 * Calls `listener` with {@link cpuShare} when the primary of a cluster tells this process a new share. Returns a
 * function that ends this. Outside a cluster it does nothing. It does not keep a process alive.
 */
export function onShare(listener: ShareListener): () => void {
  if (!isClusterWorker()) return () => {};
  const entry = { call: listener };
  // A listener holds the channel, but node:cluster itself does so for as long as the process does not say otherwise, and
  // what it says then (`process.channel.unref()`) stands.
  if (listeners.size === 0) process.on('message', receive);
  listeners.add(entry);
  return () => {
    if (listeners.delete(entry) && listeners.size === 0) process.off('message', receive);
  };
}

function receive(message: unknown): void {
  if (typeof message !== 'object' || message === null) return;
  const cpus = cpusOf((message as Record<string, unknown>)[key]);
  if (cpus === null) return;
  // For pools that are made later, and for processes that this one starts.
  process.env[variable] = String(cpus);
  const share = cpuShare();
  for (const { call } of [...listeners]) {
    try {
      call(share);
    } catch (error) {
      throwLater(error);
    }
  }
}

/**
 * Threads of a pool for a number of CPUs: one at least, and at most as many as there are whole CPUs, one if there is none.
 * Not rounded up: threads above a quota are stopped for the rest of each period, with the event loop among them.
 */
export function defaultThreads(cpus: number): { min: number; max: number } {
  return { min: 1, max: Math.max(1, Math.floor(cpus)) };
}
