/**
 * The tables of costs in docs/reference/go.md and docs/reference/go-goja.md, from what `go test -bench` printed. Its output is kept as it is, in
 * bench/measured: `node bench/tables/write.js` writes the tables after it has been replaced.
 */
import { readFileSync } from 'node:fs';
import { pairedRatio } from '../../packages/lab/stats/index.js';
import { median } from '../lib/statistics.js';
import { factor, number, table } from './cells.js';

const output = (name) => readFileSync(new URL(`../measured/${name}.txt`, import.meta.url), 'utf8');

/** Descriptions of the benchmarks of `./eventloop` and `./promise`. */
const operations = {
  Submit: '`Submit`, one producer, until the task has run',
  'Producers/100': 'the same, 100 producers',
  SubmitBatch: '`SubmitBatch` of 1,000, for each',
  SubmitAndWait: '`Submit`, and wait for the answer',
  Do: '`Do` while the loop sleeps',
  Microtask: '`Microtask`, until it has run',
  Immediate: '`Immediate`, until it has run',
  TimerSetAndStop: '`After` and `Stop`, inside the loop',
  TimerFires: '`After`, until it has fired',
  Readiness: 'a descriptor: write, readiness callback, answer',
  Then: '`Then`, until its handler has run',
  Catch: '`Catch`',
  Finally: '`Finally`',
  Chain: '`Chain` to a promise that is settled',
  NewPromise: '`promise.New`, `Then`, `resolve`',
  ResolveFromOutside: 'the same, `resolve` outside the loop',
  AllOf10: '`All` of ten promises',
  Await: '`promise.New`, settled by a task, `Await`',
  Async: '`Async`, `Await`',
  ChannelRoundTrip: 'for comparison: to another goroutine and back, through two channels',
};

/** The least of the runs: what other work on the machine adds is not the operation's. */
export function loopCosts() {
  const runs = byName(lines('go-eventloop'));
  return table(
    ['operation', 'cost', 'allocations'],
    Object.entries(operations).map(([name, words]) => {
      const all = runs.get(name);
      if (!all) throw new Error(`bench/measured/go-eventloop.txt has no Benchmark${name}`);
      const least = Math.min(...all.map((run) => run['ns/op']));
      const [{ 'allocs/op': allocations, 'B/op': bytes }] = all;
      return [words, time(least), allocations === 0 ? '0' : `${allocations} (${bytes} bytes)`];
    }),
  );
}

/** Descriptions of the cases of `BenchmarkPairs` of goja. */
const callbacks = {
  setTimeout: '`setTimeout`, many at once',
  setTimeoutChain: '`setTimeout`, each sets the next',
  setImmediate: '`setImmediate`, many at once',
  setImmediateChain: '`setImmediate`, each sets the next',
  clearTimeout: '`setTimeout` and `clearTimeout`',
  RunOnLoopAndWait: '`RunOnLoop`, and wait for it',
  'RunOnLoop/1': '`RunOnLoop`, a flood from one goroutine',
  'RunOnLoop/10': 'from 10',
  'RunOnLoop/100': 'from 100',
  promiseChain: 'a promise reaction',
  await: '`await`',
};

/** Medians of the pairs, and the exact interval of their ratio. */
export function gojaCosts() {
  const pairs = byName(lines('go-goja'));
  return table(
    ['', 'goja_nodejs, µs', 'here, µs', 'ahead'],
    Object.entries(callbacks).map(([name, words]) => {
      const runs = pairs.get(`Pairs/${name}`);
      if (!runs) throw new Error(`bench/measured/go-goja.txt has no BenchmarkPairs/${name}`);
      const [theirs, ours] = ['theirs', 'ours'].map((arm) => runs.map((run) => run[arm]));
      const { estimate, lo, hi } = pairedRatio(ours, theirs);
      const ahead = `${factor(estimate)} (${factor(lo)} to ${factor(hi)})`;
      return [words, number(median(theirs)), number(median(ours)), ahead];
    }),
  );
}

function byName(runs) {
  const groups = new Map();
  for (const run of runs) groups.set(run.name, [...(groups.get(run.name) ?? []), run]);
  return groups;
}

/** The benchmarks of an output: `{ name, [unit]: value }`. */
function lines(name) {
  return [...output(name).matchAll(/^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.+)$/gm)].map(
    ([, benchmark, values]) => {
      const cells = values.trim().split(/\s+/);
      const run = { name: benchmark };
      for (let i = 0; i < cells.length; i += 2) run[cells[i + 1]] = Number(cells[i]);
      return run;
    },
  );
}

const time = (ns) => (ns < 1000 ? `${number(ns)} ns` : `${number(ns / 1000)} µs`);
