/**
 * The tournament of event loops for Go: `make bench NAME=go`. CASE=… runs only the case of this name; CASE=Stability with
 * SECONDS=… is a long run. TABLE=1 also writes docs/go-tournament.md anew, TABLE=results/go-….json does so from a run
 * that was kept.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refused, runBench } from '../lib/bench.js';
import { ensureResults, resultsFolder } from '../lib/results.js';
import { median } from '../lib/statistics.js';
import { build, list, measure, stability } from './arm.js';
import { cases, chief, units } from './cases.js';
import { benchmarkLines, variation } from './samples.js';
import { writeTable } from './table.js';

const { CASE: only, TABLE: tableFrom, SECONDS: seconds = '60' } = process.env;
const root = fileURLToPath(new URL('../..', import.meta.url));
const fullRounds = 21;

if (tableFrom?.endsWith('.json')) {
  writeTable(JSON.parse(readFileSync(resolve(root, tableFrom), 'utf8')));
} else {
  await build();
  await runBench('go', only === 'Stability' ? longRun : tournament);
}

async function tournament(bench) {
  const { go, gomaxprocs, cases: listed } = await list();
  const chosen = cases.filter(({ name, quick }) =>
    only ? name === only : !bench.quick || quick.length > 0,
  );
  if (chosen.length === 0) {
    throw new Refused(
      `CASE is '${only}'; there are ${cases.map(({ name }) => name).join(', ')}, Stability`,
    );
  }
  bench.note(`${go}, GOMAXPROCS ${gomaxprocs}; each arm of a round is a process of its own`);
  ensureResults();
  const lines = `${resultsFolder}go-${new Date().toISOString().replaceAll(':', '-')}.txt`;
  const raw = [];
  for (const each of chosen) {
    const quick = bench.quick && each.quick.length > 0;
    const names = quick ? each.quick : listed.find(({ name }) => name === each.name).arms;
    // The arms of a round have the same arrivals.
    const arms = names.map((arm) => {
      let seed = bench.seed;
      return [arm, () => measure(each.name, arm, seed++)];
    });
    const rounds = await bench.rounds(each.name, Object.fromEntries(arms), {
      rounds: quick ? each.rounds : fullRounds,
      warmup: 1,
    });
    addFigures(bench, each, names, rounds);
    noteVariation(bench, each, names, rounds);
    appendFileSync(lines, benchmarkLines(each.name, names, rounds, gomaxprocs));
    raw.push({ case: each.name, rounds });
  }
  bench.note(`for benchstat: bench/results/${basename(lines)}`);
  if (tableFrom) writeTable({ raw, seed: bench.seed, notes: [`${go}, GOMAXPROCS ${gomaxprocs}`] });
}

function addFigures(bench, { name, metrics, subject = 'millrace', targets = {} }, names, rounds) {
  const values = (arm, metric) => rounds.map((round) => round[arm][metric]);
  for (const peer of names.filter((arm) => arm !== subject)) {
    const few = [metrics[0], metrics.at(-1)];
    for (const metric of chief.has(peer) || targets[peer] ? metrics : new Set(few)) {
      if (rounds[0][peer][metric] === undefined) continue;
      const what = {
        case: name,
        metric,
        unit: units[metric],
        better: 'lower',
        peer,
        backend: 'go',
      };
      bench.add(what, values(subject, metric), values(peer, metric), targets[peer]?.[metric]);
    }
  }
}

/** Rounds are paired because of this: what disturbs the machine disturbs the arms of a round alike. */
function noteVariation(bench, { name, metrics: [metric] }, names, rounds) {
  const spread = names
    .map((arm) => [arm, variation(rounds.map((round) => round[arm][metric]))])
    .filter(([, share]) => share > 0.1)
    .map(([arm, share]) => `${arm} ${Math.round(share * 100)} %`);
  if (spread.length > 0) {
    bench.note(`${name}: coefficient of variation of ${metric} over 10 %: ${spread.join(', ')}`);
  }
}

async function longRun(bench) {
  const all = [];
  await stability(Number(seconds), bench.seed, (line) => {
    all.push(line);
    const { heap_bytes: heap, goroutines, tasks, sample } = line;
    bench.say(
      `${line.seconds.toFixed(0)} s: ${tasks} tasks, heap ${(heap / 1e6).toFixed(2)} MB, ${goroutines} goroutines, ` +
        ['p50_ns', 'p95_ns', 'p99_ns', 'p999_ns'].map((key) => `${key} ${sample[key]}`).join(', '),
    );
  });
  // The first tenth is the warm-up.
  const figure = (metric, unit, values, bound) =>
    bench.add(
      { case: 'Stability', metric, unit, better: 'lower', peer: null, backend: 'go' },
      values.slice(1),
      bound,
    );
  const heaps = all.map(({ heap_bytes: heap }) => heap);
  figure('heap_bytes', 'B', heaps, 2 * median(heaps.slice(1, 4)));
  figure(
    'p999_ns',
    'ns',
    all.map(({ sample }) => sample.p999_ns),
    1e9,
  );
}
