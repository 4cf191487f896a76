/**
 * The tournament of event loops for Go. CASE=… runs only the case of this name, ARMS=a,b only these arms;
 * STABILITY=1h is a long run. TABLE=1 alone prints the report's tables beside the figures that are kept, without a run; with
 * QUICK, CASE or SAVE it prints those of the run, TABLE=bench/results/go-….json those of a run that was kept there. SAVE=1 also
 * writes docs/benchmarks/go-tournament.md.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostRecord } from '../../packages/lab/experiment/host.js';
import { build, list, measure, startStability } from '../go/arm.js';
import { cases, chief, stability } from '../go/cases.js';
import { faultless } from '../go/claims.js';
import { valuesOfLines, valuesOfRounds } from '../go/judge.js';
import { chosenArms, optionsFrom } from '../go/options.js';
import { benchmarkLines, variation } from '../go/samples.js';
import { keptAccount, report, runLong } from '../go/stability.js';
import { reportText, writePage } from '../go/table.js';
import { armsOf } from '../lib/experiment.js';
import { Refused } from '../lib/refused.js';
import { ensureResults } from '../lib/results.js';
import { runOf } from '../tables/store.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fullRounds = 21;
const backend = 'go';
const options = () =>
  optionsFrom(
    process.env,
    [...cases, stability].map(({ name }) => name),
  );
/** The cases that are over. */
const measured = [];

export default {
  question: 'The tournament of event loops for Go',
  needs: ['go'],
  keepsParts: true,
  place: 120,
  rows: {
    PingPong: [
      'one producer of tasks, in Go',
      [
        'ns_per_op',
        'goja_nodejs',
        { readme: 'Go: tasks of one producer on a loop', beside: 'PingPongLatency' },
      ],
    ],
    MultiProducer10: ['10 producers', ['ns_per_op', 'goja_nodejs']],
    PingPongLatency: ['submit and wait', ['p50_ns', 'goja_nodejs']],
    Do: ['`Do` on a loop that sleeps', ['ns_per_op', 'submit + wait', { figure: 'ns per call' }]],
    FDReady: ['a descriptor becomes ready', ['p50_ns', 'tick']],
    Stability: ['random load, in which no task is lost', ['heap_growth', null]],
    Queued1M: ['to run a million tasks that wait', ['ns_per_op', 'goja_nodejs']],
  },
  async instead(bench) {
    const { tables, stability: plan, isKept } = options();
    if (tables) {
      printTables(tables);
      return true;
    }
    await build('arm');
    if (plan) await long(bench, plan, isKept);
    return plan !== null;
  },

  async *experiments(bench) {
    const { only, arms: asked } = options();
    const { go, gomaxprocs, cases: listed } = await list();
    const chosen = cases.filter(({ name, quick, alone }) =>
      only ? name === only : !alone && (!bench.quick || quick.length > 0),
    );
    bench.leaveOut({
      ofCase: only,
      alone: cases.filter(({ alone }) => alone).map(({ name }) => name),
    });
    const plans = chosen.map((each) => planOf(each, listed, asked, bench.quick));
    bench.note(`${go}, GOMAXPROCS ${gomaxprocs}; each arm of a round is a process of its own`);
    const lines = `${ensureResults()}go-${new Date().toISOString().replaceAll(':', '-')}.txt`;
    process.once('SIGINT', interrupted);
    try {
      for (const { each, names, rounds: count } of plans) {
        const { name, alone } = each;
        const rounds = yield {
          ...{ name, backend, rounds: count, warmup: alone ? 0 : 1 },
          // The arms of a round have the same arrivals.
          arms: armsOf(
            names,
            (arm) => (round) => measure(name, arm, bench.seed + round, alone && { minutes: 20 }),
          ),
          comparisons: (all) => comparisonsOf(each, names, all),
          notes: (all) => notesOf(each, names, all),
        };
        appendFileSync(lines, benchmarkLines(name, names, rounds, gomaxprocs));
        measured.push({ name, rounds });
      }
      if (measured.length > 0) bench.note(`for benchstat: bench/results/${basename(lines)}`);
      if (asked || (only && only !== stability.name)) return;
      measured.push({ name: stability.name, rounds: yield shortStability(bench.seed) });
    } finally {
      process.off('SIGINT', interrupted);
    }
  },

  /** Called when the run is over. */
  after() {
    const { only, isKept, showsTables } = options();
    if (isKept) writeKept({ isPart: only !== null });
    if (showsTables) show(valuesOfRounds(measured), machineName());
  },
};

/** Drops the case that is running, which has no whole round. */
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

async function long(bench, plan, isKept) {
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

function planOf(each, listed, asked, isQuick) {
  const quick = isQuick && each.quick.length > 0;
  const all = listed.find(({ name }) => name === each.name).arms;
  const names = asked ? chosenArms(each.name, all, asked) : quick ? each.quick : all;
  return { each, names, rounds: quick || each.alone ? each.rounds : fullRounds };
}

function comparisonsOf({ metrics, subject = 'millrace', targets = {} }, names, rounds) {
  if (!names.includes(subject)) return [];
  const few = [...new Set([metrics[0], metrics.at(-1)])];
  const has = (peer) => (metric) => rounds[0][peer][metric] !== undefined;
  const bounds = has(subject)('tasks') ? [['tasks', faultless.tasks]] : [];
  return [
    { ours: subject, bounds },
    ...names
      .filter((arm) => arm !== subject)
      .map((peer) => ({
        ours: subject,
        metrics: (chief.has(peer) || targets[peer] ? metrics : few).filter(has(peer)),
        peers: { [peer]: targets[peer] },
      })),
  ];
}

/** Rounds are paired because of this: what disturbs the machine disturbs the arms of a round alike. */
function notesOf({ name, metrics: [metric], subject = 'millrace' }, names, rounds) {
  const spread = names
    .map((arm) => [arm, variation(rounds.map((round) => round[arm][metric]))])
    .filter(([, share]) => share > 0.1)
    .map(([arm, share]) => `${arm} ${Math.round(share * 100)} %`);
  return [
    names.includes(subject) ? null : `${name}: without ${subject} there is nothing to compare with`,
    spread.length > 0
      ? `${name}: coefficient of variation of ${metric} over 10 %: ${spread.join(', ')}`
      : null,
  ];
}

/** In each round a process of its own. Its samples are those of the last tenth, and all of its tasks. */
function shortStability(seed) {
  const { name, rounds: count, seconds, growth, mostNs } = stability;
  return {
    ...{ name, backend, rounds: count, warmup: 0 },
    arms: { millrace: (round) => shortRun(seconds / count, seed + round) },
    bounds: [
      ['tasks', faultless.tasks / count, null],
      ['heap_growth', growth],
      ['p999_ns', mostNs],
    ],
    notes(rounds) {
      const total = rounds.reduce((sum, { millrace }) => sum + millrace.tasks, 0);
      return [`${name}: ${total.toLocaleString('en-US')} tasks, every one of which has run`];
    },
  };
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
