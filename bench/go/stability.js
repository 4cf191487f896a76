/**
 * A loop under random load in one process for as long as is wanted: `make bench NAME=go STABILITY=1h`.
 *
 * The load has a rate, and so leaves the machine to others. What the loop reports of each of sixty intervals is at once a line of
 * bench/results/go-stability-….txt, whose first line says what was asked and whose last one is the account: how many tasks were accepted,
 * and have run. Ctrl-C ends the load, not the account. A file without an account is of a run that was killed or that has failed.
 * SAVE=1 keeps the file of a run that was not stopped as bench/measured/go-stability.txt, of which the page has a row.
 */
import { appendFileSync, copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostRecord } from '../../packages/lab/experiment/host.js';
import { Refused } from '../lib/refused.js';
import { ensureResults, resultsFolder } from '../lib/results.js';
import { median } from '../lib/statistics.js';
import { published } from '../tables/store.js';
import { startStability } from './arm.js';
import { stability } from './cases.js';

const intervals = 60;
const keptFile = fileURLToPath(new URL('../measured/go-stability.txt', import.meta.url));

/**
 * @typedef {object} Account
 * @property {string} machine
 * @property {number} asked seconds
 * @property {number} seconds that it ran
 * @property {number} rate
 * @property {number} tasks
 * @property {number} cores in use, on average
 * @property {number} queued threads, on average, that were ready and had no core, because other programs had them
 * @property {number} firstHeap bytes in use after a collection, in the middle of the first tenth
 * @property {number} lastHeap of the last
 * @property {number} growth
 * @property {number} p50 in ns, in the middle of all intervals, as p99
 * @property {number} p99
 * @property {number} p999 in the worst interval
 * @property {number} worst wait of all
 * @property {boolean} stopped
 * @property {{ what: string, isMet: boolean }[]} verdicts
 */

/**
 * Runs it, and says how it was.
 *
 * @param {{ seconds: number, rate: number }} plan
 * @param {{ seed: number, isKept: boolean, say: (line: string) => void }} options
 * @returns {Promise<{ account: Account, path: string }>}
 * @throws {Refused} when the loop has lost a task or left a goroutine, or was killed
 */
export async function runLong({ seconds, rate }, { seed, isKept, say }) {
  ensureResults();
  const path = `${resultsFolder}go-stability-${new Date().toISOString().replaceAll(':', '-')}.txt`;
  const host = hostRecord();
  const { cpu, cores, kernel } = published(host);
  const keep = (line) => appendFileSync(path, `${line}\n`);
  keep(
    JSON.stringify({
      cpu,
      cores,
      kernel,
      load_average: host.load_average,
      seconds,
      rate,
      seed,
      intervals,
    }),
  );
  say(`each interval is a line of ${shown(path)}; Ctrl-C keeps what there is`);
  let count = 0;
  const run = startStability([`${seconds}s`, seed, rate, intervals], (line) => {
    keep(line);
    const interval = JSON.parse(line);
    if (interval.sample) say(progress(interval, ++count, rate));
  });
  const stop = (signal) => run.stop(signal);
  for (const signal of signals) process.on(signal, stop);
  try {
    await run.ended;
  } catch (error) {
    const after = `after ${count} of ${intervals} intervals; they are kept in ${shown(path)}`;
    throw new Refused(`${error.message} ${after}`);
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
  const account = accountOf(readFileSync(path, 'utf8'));
  if (isKept && !account.stopped) copyFileSync(path, keptFile);
  return { account, path: shown(path) };
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const shown = (path) => `bench/results/${basename(path)}`;

function progress({ seconds, tasks, heap_bytes: heap, sample }, count) {
  const wait = `p99.9 ${milliseconds(sample.p999_ns ?? 0)} ms`;
  return `${count} of ${intervals}, ${Math.round(seconds)} s: ${tasks.toLocaleString('en-US')} tasks, heap ${megabytes(heap)} MB, ${wait}`;
}

/** The account of the run that is kept; undefined without one. */
export const keptAccount = () =>
  existsSync(keptFile) ? accountOf(readFileSync(keptFile, 'utf8')) : undefined;

/**
 * @param {string} text of a file of a run
 * @returns {Account}
 */
export function accountOf(text) {
  const [about, ...lines] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const end = lines.pop();
  if (end?.accepted === undefined) throw new Refused('the file has no account: the run was killed');
  const waits = lines.filter(({ sample }) => sample.samples > 0).map(({ sample }) => sample);
  if (waits.length === 0) throw new Refused('no task has run: give it more time, or a higher RATE');
  const tenth = Math.ceil(lines.length / 10);
  const heap = (some) => median(some.map(({ heap_bytes: bytes }) => bytes));
  const [firstHeap, lastHeap] = [heap(lines.slice(0, tenth)), heap(lines.slice(-tenth))];
  const share = (what) =>
    lines.reduce((sum, { [what]: each }) => sum + each, 0) / lines.at(-1).seconds;
  const of = (metric) => waits.map((sample) => sample[metric]);
  const p999 = Math.max(...of('p999_ns'));
  const growth = lastHeap / firstHeap;
  return {
    machine: `${about.cpu}, ${about.cores} cores`,
    asked: about.seconds,
    seconds: end.seconds,
    rate: about.rate,
    tasks: end.ran,
    ...{ cores: share('cpu_seconds'), queued: share('queued_seconds') },
    ...{ firstHeap, lastHeap, growth },
    ...{ p50: median(of('p50_ns')), p99: median(of('p99_ns')), p999 },
    worst: Math.max(...of('max_ns')),
    stopped: end.stopped,
    verdicts: [
      { what: 'every accepted task has run', isMet: end.accepted === end.ran },
      { what: 'no goroutine is left', isMet: end.goroutines_left === 0 },
      {
        what: `the heap grew at most ${stability.growth} times`,
        isMet: growth <= stability.growth,
      },
      { what: 'p99.9 of every interval below 1 s', isMet: p999 < stability.mostNs },
    ],
  };
}

const heads = [
  'ran',
  'tasks',
  'tasks/s',
  'cores',
  'threads without a core',
  'heap, MB',
  'p50, ms',
  'p99, ms',
  'p99.9, ms',
];

/** The account as a row of a table. */
export function rowOf(account) {
  const { seconds, tasks, cores, queued, firstHeap, lastHeap, p50, p99, p999, worst } = account;
  const cells = [
    duration(seconds),
    tasks.toLocaleString('en-US'),
    Math.round(tasks / seconds).toLocaleString('en-US'),
    cores.toFixed(2),
    queued.toFixed(2),
    `${megabytes(firstHeap)}, at the end ${megabytes(lastHeap)}`,
    ...[p50, p99, p999, worst].map(milliseconds),
  ];
  return { heads: [...heads, 'longest wait, ms'], cells };
}

/** The account and its verdicts, for people. */
export function report(account) {
  const { heads: titles, cells } = rowOf(account);
  const { stopped, asked, verdicts, machine } = account;
  const lines = titles.map((title, i) => `${title.padEnd(22)}  ${cells[i]}`);
  const told = verdicts.map(({ what, isMet }) => `${isMet ? 'met      ' : 'not met  '} ${what}`);
  const early = stopped ? [`stopped before its ${duration(asked)} were over`] : [];
  return [...early, ...lines, ...told, machine].join('\n');
}

export function duration(seconds) {
  const [unit, size] = seconds >= 3600 ? ['h', 3600] : seconds >= 60 ? ['min', 60] : ['s', 1];
  return `${Number((seconds / size).toPrecision(3))} ${unit}`;
}

const milliseconds = (ns) => String(Number((ns / 1e6).toPrecision(3)));
const megabytes = (bytes) => (bytes / 1e6).toFixed(2);
