/**
 * The tournament of event loops for Go: `make bench NAME=go`. CASE=… runs only the case of this name; CASE=Stability with
 * SECONDS=… is a long run. SAVE=1 and TABLE=1 also write docs/go-tournament.md anew, TABLE=results/go-….json does so from a run
 * that was kept.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refused, runBench } from '../lib/bench.js';
import { ensureResults, resultsFolder } from '../lib/results.js';
import { build, list, measure, runStability } from './arm.js';
import { cases, chief, stability, units } from './cases.js';
import { faultless } from './claims.js';
import { benchmarkLines, variation } from './samples.js';
import { writeTable } from './table.js';

const {
  CASE: only,
  TABLE: tableFrom,
  SAVE: isKept,
  SECONDS: seconds = stability.seconds,
} = process.env;
const root = fileURLToPath(new URL('../..', import.meta.url));
const fullRounds = 21;

if (tableFrom?.endsWith('.json')) {
  writeTable(JSON.parse(readFileSync(resolve(root, tableFrom), 'utf8')));
} else {
  await build('arm');
  await runBench('go', tournament);
}

async function tournament(bench) {
  const { go, gomaxprocs, cases: listed } = await list();
  const chosen = cases.filter(({ name, quick }) =>
    only ? name === only : !bench.quick || quick.length > 0,
  );
  const isLong = !only || only === stability.name;
  if (chosen.length === 0 && !isLong) {
    throw new Refused(
      `CASE is '${only}'; there are ${[...cases, stability].map(({ name }) => name).join(', ')}`,
    );
  }
  if (only && isKept) throw new Refused('SAVE=1 keeps a run of all cases; leave out CASE');
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
  if (raw.length > 0) bench.note(`for benchstat: bench/results/${basename(lines)}`);
  if (isLong) raw.push({ case: stability.name, rounds: await addStability(bench) });
  if (tableFrom || isKept) writeTable({ raw, notes: [`${go}, GOMAXPROCS ${gomaxprocs}`] });
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

/** In each round a process of its own. Its samples are those of the last tenth, and all of its tasks. */
async function addStability(bench) {
  const { name, rounds: count, growth, mostNs } = stability;
  let seed = bench.seed;
  const arms = { millrace: () => longRun(Number(seconds) / count, seed++) };
  const rounds = await bench.rounds(name, arms, { rounds: count, warmup: 0 });
  const add = (metric, unit, better, bound, target) => {
    const what = { case: name, metric, unit, better, peer: null, backend: 'go' };
    const values = rounds.map(({ millrace }) => millrace[metric]);
    bench.add(what, values, bound, target);
  };
  add('tasks', '1', 'higher', faultless.tasks / count);
  add('heap_growth', '1', 'lower', growth, 1);
  add('p999_ns', 'ns', 'lower', mostNs, 1);
  const total = rounds.reduce((sum, { millrace }) => sum + millrace.tasks, 0);
  bench.note(`${name}: ${total.toLocaleString('en-US')} tasks, every one of which has run`);
  return rounds;
}

async function longRun(duration, seed) {
  const all = [];
  await runStability(duration, seed, (interval) => all.push(interval));
  const [first, last] = [all[0], all.at(-1)];
  return {
    tasks: all.reduce((sum, { tasks }) => sum + tasks, 0),
    heap_bytes: last.heap_bytes,
    heap_growth: last.heap_bytes / first.heap_bytes,
    ...last.sample,
  };
}
