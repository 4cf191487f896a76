/**
 * Counts per request to a server: system calls, and bytes allocated on the heap. They do not depend on how busy the machine is, so that few rounds
 * show a small difference. Each arm is a new process, whose heap is so large that nothing is collected while it is counted: it grows by
 * what was allocated.
 */
import { runArm } from './arm.js';
import { Refused } from './refused.js';
import { obstacle } from './syscalls.js';

const countArm = new URL('./count-arm.js', import.meta.url);
/** Space for new objects, MB. */
const young = 256;
const flags = [`--min-semi-space-size=${young}`, `--max-semi-space-size=${young}`, '--expose-gc'];
const metrics = [
  { metric: 'syscalls_per_req', unit: '1', better: 'lower' },
  { metric: 'allocated_bytes_per_req', unit: 'B', better: 'lower' },
];

/**
 * Measures every server in paired rounds, under a load of 100 connections. System calls are left out, with a remark, where
 * strace cannot count them.
 *
 * @param {import('./bench.js').Bench} bench
 * @param {string} title of the raw samples
 * @param {Record<string, (flags: string[]) => string[]>} commands by arm: its command, with these options of Node.js
 * @returns {Promise<(figure: object, ours: string, theirs: string) => void>} adds the figures of an arm against another
 * @throws {Refused} when an answer was wrong, or the heap was collected
 */
export async function countRequests(bench, title, commands) {
  const why = obstacle();
  if (why !== null) bench.note(`${title}: system calls were not counted: ${why}`);
  const plan = { connections: 100, count: 20_000, syscalls: why === null };
  const arms = Object.entries(commands).map(([arm, command]) => [
    arm,
    () => runArm(countArm, [JSON.stringify({ ...plan, command: command(flags) })]),
  ]);
  const rounds = await bench.rounds(title, Object.fromEntries(arms), { rounds: 6, warmup: 0 });
  for (const [arm, { wrong }] of rounds.flatMap(Object.entries)) {
    if (wrong) throw new Refused(`in the case '${title}', ${arm}: ${wrong}`);
  }
  return (figure, ours, theirs) => {
    for (const what of why === null ? metrics : metrics.slice(1)) {
      const values = (arm) => rounds.map((round) => round[arm][what.metric]);
      bench.add({ ...figure, peer: theirs, ...what }, values(ours), values(theirs));
    }
  };
}
