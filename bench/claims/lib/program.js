/**
 * Common part of the programs of experiments. Such a program is itself the work of an arm: it is started as `program.js ARM
 * JSON`, warms up, measures, and prints its figures as one line of JSON.
 */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * The command of an arm.
 *
 * @param {URL} program
 * @param {string} arm its first argument
 * @returns {(params: object) => string[]}
 */
export const commandOf = (program, arm) => (params) => [
  process.execPath,
  fileURLToPath(program),
  arm,
  JSON.stringify(params),
];

/** The arguments of the running program. @returns {{ arm: string, params: any }} */
export function readArguments() {
  const [arm, params] = process.argv.slice(2);
  return { arm, params: JSON.parse(params) };
}

/**
 * Runs what is measured. The lab is told when it begins and ends, and reads the kernel's counters meanwhile.
 *
 * @template Result
 * @param {() => Promise<Result>} work
 * @returns {Promise<{ result: Result, seconds: number, cpuS: number, kernelS: number }>} CPU time of this process alone, and the part
 *   of it that the kernel took: in system calls, by its own count
 */
export async function measured(work) {
  await mark('start');
  const [start, before] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  await mark('end');
  return { result, seconds, cpuS: (user + system) / 1e6, kernelS: system / 1e6 };
}

/** Waits for the lab; at the end of stdin, as when it is run by hand without one, for nobody. */
async function mark(name) {
  print({ mark: name });
  if (process.stdin.readableEnded) return;
  process.stdin.resume();
  await Promise.race([once(process.stdin, 'data'), once(process.stdin, 'end')]);
  process.stdin.pause();
}

/** Prints a line of JSON; the last one is the outcome. @param {object} line */
export function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * Summary of latencies for the lab.
 *
 * @param {number[]} values ms
 * @returns {{ n: number, mean: number, p50: number, p90: number, p99: number, p999: number, max: number } | null}
 */
export function latencyOf(values) {
  const n = values.length;
  if (n === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share) => sorted[Math.max(0, Math.ceil(share * n) - 1)];
  const mean = sorted.reduce((sum, value) => sum + value, 0) / n;
  return { n, mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1) };
}
