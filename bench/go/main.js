/**
 * The tournament of event loops for Go: `make bench NAME=go`. CASE=… runs only the case of this name, ARMS=a,b only these arms;
 * STABILITY=1h is a long run. TABLE=1 alone prints the report's tables beside the figures that are kept, without a run; with
 * QUICK, CASE or SAVE it prints those of the run, TABLE=bench/results/go-….json those of a run that was kept there. SAVE=1 also
 * writes docs/benchmarks/go-tournament.md.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostRecord } from '../../packages/lab/experiment/host.js';
import { Bench, runBench } from '../lib/bench.js';
import { Refused } from '../lib/refused.js';
import { ensureResults, resultsFolder } from '../lib/results.js';
import { runOf } from '../tables/store.js';
import { build, list, measure, startStability } from './arm.js';
import { cases, chief, stability, units } from './cases.js';
import { faultless } from './claims.js';
import { valuesOfLines, valuesOfRounds } from './judge.js';
import { chosenArms, optionsFrom } from './options.js';
import { benchmarkLines, variation } from './samples.js';
import { keptAccount, report, runLong } from './stability.js';
import { reportText, writePage } from './table.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fullRounds = 21;
/** The cases that are over. */
const measured = [];

try {
  const names = [...cases, stability].map(({ name }) => name);
  await main(optionsFrom(process.env, names));
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(`refused: ${error.message}`);
  process.exitCode = 1;
}

async function main(options) {
  if (options.tables) return printTables(options.tables);
  await build('arm');
  if (options.stability) return long(options);
  process.once('SIGINT', interrupted);
  await runBench('go', (bench) => tournament(bench, options));
  process.off('SIGINT', interrupted);
  if (process.exitCode) return;
  if (options.isKept) writeKept({ isPart: options.only !== null });
  if (options.showsTables) show(valuesOfRounds(measured), machineName());
}

/** Nothing of the case that is running is a whole round of it. */
function interrupted() {
  const lines = measured.length > 0 ? 'its lines for benchstat are kept' : 'nothing is kept';
  console.error(`\nstopped by Ctrl-C: ${measured.length} cases were over, ${lines}`);
  process.exit(130);
}

function printTables(from) {
  if (from === 'kept') {
    const { machine, figures } = keptRun();
    return show(valuesOfLines(figures), `${machine.cpu}, ${machine.cores} cores, as kept`);
  }
  const { raw, machine } = runIn(from);
  const rounds = raw.map(({ case: name, rounds: some }) => ({ name, rounds: some }));
  show(valuesOfRounds(rounds), `${machine.cpu}, ${machine.cores} cores, ${from}`);
}

function runIn(from) {
  try {
    const run = JSON.parse(readFileSync(resolve(root, from), 'utf8'));
    if (run.bench === 'go') return run;
  } catch ({ message }) {
    throw new Refused(`TABLE is '${from}', which cannot be read: ${message}`);
  }
  throw new Refused(`TABLE is '${from}', which is no run of this benchmark in bench/results`);
}

function keptRun() {
  const run = runOf('go');
  if (run === undefined) throw new Refused('no run is kept: make bench NAME=go QUICK=1 SAVE=1');
  return run;
}

function show(values, machine) {
  const out = process.env.JSON ? process.stderr : process.stdout;
  out.write(`\n${reportText(values, machine)}`);
}

const machineName = () => `${hostRecord().cpu}, ${hostRecord().cores} cores, this run`;

/** The page has what is kept, and the tables of the cases that were run. */
function writeKept({ isPart }) {
  const kept = keptRun();
  const raw = measured.map(({ name, rounds }) => ({ case: name, rounds }));
  writePage({ kept, values: valuesOfLines(kept.figures), raw, isPart, account: keptAccount() });
}

async function long({ stability: plan, isKept }) {
  const bench = new Bench('go');
  await bench.checkQuiet();
  const say = (line) => bench.say(line);
  const { account, path } = await runLong(plan, { seed: bench.seed, isKept, say });
  const out = process.env.JSON ? process.stderr : process.stdout;
  if (process.env.JSON) console.log(JSON.stringify(account));
  out.write(`\n${report(account)}\nraw lines: ${path}\n`);
  if (account.stopped) {
    process.exitCode = 130;
    if (isKept) bench.say('not kept in bench/measured: SAVE=1 keeps runs that were not stopped');
  } else if (isKept) {
    writeKept({ isPart: true });
    bench.say('kept in bench/measured/go-stability.txt; written: docs/benchmarks/go-tournament.md');
  }
}

async function tournament(bench, { only, arms: asked }) {
  const { go, gomaxprocs, cases: listed } = await list();
  const chosen = cases.filter(({ name, quick, alone }) =>
    only ? name === only : !alone && (!bench.quick || quick.length > 0),
  );
  bench.leaveOut({
    ofCase: only,
    alone: cases.filter(({ alone }) => alone).map(({ name }) => name),
  });
  const plans = chosen.map((each) => {
    const quick = bench.quick && each.quick.length > 0;
    const all = listed.find(({ name }) => name === each.name).arms;
    const names = asked ? chosenArms(each.name, all, asked) : quick ? each.quick : all;
    return { each, names, rounds: quick || each.alone ? each.rounds : fullRounds };
  });
  bench.note(`${go}, GOMAXPROCS ${gomaxprocs}; each arm of a round is a process of its own`);
  ensureResults();
  const lines = `${resultsFolder}go-${new Date().toISOString().replaceAll(':', '-')}.txt`;
  for (const { each, names, rounds: count } of plans) {
    // The arms of a round have the same arrivals.
    const arms = names.map((arm) => {
      let seed = bench.seed;
      return [arm, () => measure(each.name, arm, seed++, each.alone && { minutes: 20 })];
    });
    const rounds = await bench.rounds(each.name, Object.fromEntries(arms), {
      rounds: count,
      warmup: each.alone ? 0 : 1,
    });
    addFigures(bench, each, names, rounds);
    noteVariation(bench, each, names, rounds);
    appendFileSync(lines, benchmarkLines(each.name, names, rounds, gomaxprocs));
    measured.push({ name: each.name, rounds });
  }
  if (measured.length > 0) bench.note(`for benchstat: bench/results/${basename(lines)}`);
  if (!asked && (!only || only === stability.name)) {
    measured.push({ name: stability.name, rounds: await addStability(bench) });
  }
}

function addFigures(bench, { name, metrics, subject = 'millrace', targets = {} }, names, rounds) {
  const values = (arm, metric) => rounds.map((round) => round[arm][metric]);
  if (!names.includes(subject)) {
    bench.note(`${name}: without ${subject} there is nothing to compare with`);
    return;
  }
  if (rounds[0][subject].tasks !== undefined) {
    const what = { case: name, metric: 'tasks', unit: '1', better: 'higher', peer: null };
    bench.add({ ...what, backend: 'go' }, values(subject, 'tasks'), faultless.tasks, 1);
  }
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
  const { name, rounds: count, seconds, growth, mostNs } = stability;
  let seed = bench.seed;
  const arms = { millrace: () => shortRun(seconds / count, seed++) };
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

async function shortRun(seconds, seed) {
  const all = [];
  const keep = (line) => all.push(JSON.parse(line));
  await startStability([`${seconds}s`, seed, 0, 10], keep).ended;
  all.pop(); // the account of all
  const [first, last] = [all[0], all.at(-1)];
  const { max_ns: longest, ...sample } = last.sample;
  return {
    tasks: all.reduce((sum, { tasks }) => sum + tasks, 0),
    heap_bytes: last.heap_bytes,
    heap_growth: last.heap_bytes / first.heap_bytes,
    ...sample,
  };
}
