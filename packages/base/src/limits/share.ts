/**
 * The CPUs of one process: what its container allows, and in a cluster its share of that. The primary of the cluster sets the share in
 * the environment of each process, and sends a message when it changes; pools follow it.
 */
import { builtin } from '../realm.cjs';
import { throwLater } from '../turn.cjs';
import { limits } from './limits.js';

const variable = 'MILLRACE_CPUS';
const key = 'millrace:cpus';

/** The environment variable of a process with this share. */
export const shareVariable = (cpus: number): Record<string, string> => ({
  [variable]: String(cpus),
});

/** The message that tells a process its new share. */
export const shareMessage = (cpus: number): Record<string, number> => ({ [key]: cpus });

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
