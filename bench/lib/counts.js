/**
 * Counts per request to a server: system calls, and bytes allocated on the heap. They do not depend on the load of the machine, so that
 * few rounds show a small difference. Each arm is a new process, with a heap so large that no garbage is collected during the count: its
 * growth is the allocation.
 */
import { runArm } from './arm.js';
import { obstacle } from './syscalls.js';

const countArm = new URL('./count-arm.js', import.meta.url);
/** Space for new objects, MB. */
const young = 256;
const flags = [`--min-semi-space-size=${young}`, `--max-semi-space-size=${young}`, '--expose-gc'];

/**
 * Returns the parts of a counting experiment besides its name and comparisons: every server under a load of 100 connections. System
 * calls are left out, with a remark, where strace cannot count them.
 *
 * @param {string} name of the experiment
 * @param {Record<string, (flags: string[]) => string[]>} commands by arm: its command, with these options of Node.js
 */
export function countingArms(name, commands) {
  const why = obstacle();
  const plan = { connections: 100, count: 20_000, syscalls: why === null };
  const arm = ([subject, command]) => [
    subject,
    () => runArm(countArm, [JSON.stringify({ ...plan, command: command(flags) })]),
  ];
  return {
    ...{ name, rounds: 6, warmup: 0 },
    arms: Object.fromEntries(Object.entries(commands).map(arm)),
    metrics: [...(why === null ? ['syscalls_per_req'] : []), 'allocated_bytes_per_req'],
    notes: () => [why && `${name}: system calls were not counted: ${why}`],
  };
}
