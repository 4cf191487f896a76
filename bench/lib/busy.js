import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { busyS } from '../../packages/lab/experiment/host.js';

/** The share of the CPUs' time that was in use over one second in which this process waits, 0 to 1. */
export async function busyShare() {
  const [busy, atMs] = [busyS(), performance.now()];
  await sleep(1000);
  const seconds = (performance.now() - atMs) / 1000;
  return Math.min(1, (busyS() - busy) / (seconds * cpus().length));
}
