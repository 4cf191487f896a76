/** Programs of this folder, and what processes use. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandOf, startChild } from '../../lib/child.js';
import { CpuClock } from '../../lib/cpu.js';

/** @param {string} name @param {string[]} [args] */
export const start = (name, args) =>
  startChild(commandOf(new URL(name, import.meta.url), args, ['--expose-gc']));

/** Memory of a process, bytes. */
export const rss = (pid) =>
  Number(/^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

/** CPU time of each of some processes within a number of seconds, in µs per second. */
export async function used(pids, seconds) {
  const clocks = pids.map((pid) => new CpuClock(pid));
  const before = clocks.map((clock) => clock.read());
  const began = performance.now();
  await sleep(seconds * 1000);
  const passed = (performance.now() - began) / 1000;
  return clocks.map((clock, i) => (clock.read() - before[i]) / passed);
}
