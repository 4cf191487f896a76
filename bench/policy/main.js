/**
 * Holds of `adaptive` against the best fixed delay in hindsight: `make bench NAME=policy`. LOAD=5k,450k measures these loads alone, in a
 * quick run those of a full one, too.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { arm as armInC } from '../c/arm.js';
import { backends } from '../fanout/arms.js';
import { arm as armInGo, build } from '../go/arm.js';
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';
import { noteGenerator, refuseBackend, refuseFaults } from '../lib/checks.js';
import { pinned } from '../lib/cores.js';
import { measure, metrics as metricsOfLoad, program } from '../lib/load.js';
import { Refused } from '../lib/refused.js';
import { ensureResults, resultsFolder } from '../lib/results.js';
import {
  bestWithin,
  endOfTurn,
  keepsUp,
  loads,
  measuring,
  score,
  ways,
  waysOfLogs,
} from './cases.js';
import { estimators, patterns, simulate } from './forecast.js';
import { writePicture } from './picture.js';

const [fanout] = backends;
/** Programs of durable logs, by backend. */
const logs = { c: armInC, go: armInGo };
const insertArm = new URL('./insert-arm.js', import.meta.url);
const metrics = {
  ...metricsOfLoad,
  busy_us_per_item: { unit: 'us', better: 'lower' },
};
const scored = { metric: 'score', unit: 'cores', better: 'lower' };
const valuesOf = (rounds, arm, metric) => rounds.map((round) => round[arm][metric]);

/** The claim of the published document, and the others of CPU: by load, budget and peer, the least `ahead`. */
const cpuTargets = {
  '20k': [
    [5, endOfTurn, 0.95],
    [50, endOfTurn, 0.95],
  ],
  '50k': [
    [5, 'direct', 1 / 0.7],
    [50, 'direct', 1 / 0.5],
  ],
  '5k': [
    [5, endOfTurn, 0.95],
    [50, endOfTurn, 0.95],
  ],
};

/** The peer of scores: whichever way within the budget it was. */
const bestWay = 'best in hindsight';

const budgetsForecast = [5, 50];

/** Names of the loads that are wanted; null: all. */
const asked = process.env.LOAD ? process.env.LOAD.split(',') : null;

await build('policy');
await runBench('policy', async (bench) => {
  const { quick } = bench;
  const unknown = asked?.find((name) => !loads.some((load) => load.name === name));
  if (unknown !== undefined) {
    const names = loads.map(({ name }) => name).join(', ');
    throw new Refused(`LOAD has '${unknown}'; there are ${names}`);
  }
  if (asked !== null && process.env.SAVE)
    throw new Refused('SAVE=1 keeps a run of all loads; leave out LOAD');
  const { prefix, note } = pinned();
  bench.note(note);
  const timing = quick ? { warmup: 2, seconds: 1.5 } : { warmup: 3, seconds: 5 };
  const size = quick ? { rounds: 6, warmup: 0 } : { rounds: 9, warmup: 1 };
  const isMeasured = (each) => !quick || each.quick !== false;
  const isAsked = (load) => (asked === null ? isMeasured(load) : asked.includes(load.name));
  const curves = [];
  ensureResults();

  for (const { name, crowd, backend = fanout, offered } of loads.filter(isAsked)) {
    const log = logs[backend];
    const once = log ? logged : crowd === undefined ? inserted : sent;
    async function logged(way) {
      const { warmup, seconds } = timing;
      const folder = await mkdtemp(join(resultsFolder, 'policy-'));
      try {
        const args = [way, offered.perSecond, warmup, seconds, join(folder, 'log')];
        const sample = await log('policy', ...args);
        if (!sample.complete) throw new Refused(`in '${name}' ${way} has not logged all records`);
        return sample;
      } finally {
        await rm(folder, { recursive: true });
      }
    }
    async function inserted(way) {
      const { warmup, seconds } = timing;
      const sample = await runArm(insertArm, [offered.perSecond, way, warmup, seconds].map(String));
      if (!sample.complete) throw new Refused(`in '${name}' ${way} did not save all of its items`);
      return sample;
    }
    async function sent(way) {
      const { policy, maxDelay, others } = ways[way];
      const options = { policy, maxDelay, maxPending: 1024 ** 3, ...others };
      const command = [process.execPath, program('rooms.js'), JSON.stringify(options)];
      const env = backend === 'js' ? {} : { MILLRACE_FANOUT: backend };
      const load = { payload: 100, protocol: 'raw', drain: 1, ...timing, ...crowd, ...offered };
      const server = { command: [...prefix, ...command], env };
      const sample = await measure(server, load);
      refuseFaults(name, way, sample.report, true);
      refuseBackend(name, way, sample.stats, backend);
      return { ...sample, cores: (sample.cpu_us_per_msg * sample.msgs_per_s) / 1e6 };
    }
    const arms = Object.entries(ways).filter(([each, way]) =>
      log ? waysOfLogs.includes(each) : isMeasured(way),
    );
    const rounds = await bench.rounds(
      name,
      Object.fromEntries(arms.map(([way]) => [way, () => once(way)])),
      size,
    );
    if (crowd !== undefined) noteGenerator(bench, name, rounds);
    for (const [way, { policy, maxDelay: budget }] of arms) {
      if (policy === 'adaptive' && budget > 0)
        compare({ name, crowd, backend, offered }, rounds, way, budget);
    }
    if (crowd !== undefined && offered.mode === 'open')
      curves.push({ name, points: pointsOf(rounds, offered) });
  }
  if (process.env.SAVE) writePicture(curves);
  for (const [name, pattern] of Object.entries(patterns)) {
    for (const budget of budgetsForecast) compareForecasts(name, pattern, budget);
  }

  /** Another arrival of events in each round, the same for both. */
  function compareForecasts(name, pattern, budget) {
    const [plain, trend] = Object.values(estimators).map((Estimator) =>
      Array.from({ length: size.rounds }, (_, round) =>
        simulate(pattern, Estimator, budget, bench.seed + round),
      ),
    );
    const [peer, ours] = Object.keys(estimators);
    bench.add({ case: `${ours}, ${name} ${budget}`, peer, backend: 'js', ...scored }, trend, plain);
  }

  function compare({ name, crowd, backend, offered }, rounds, way, budget) {
    const add = (what, peer, target, called = peer) =>
      bench.add(
        { case: `${name} ${way}`, peer: called, backend, ...what },
        rounds.map((round) => read(round[way], what.metric)),
        rounds.map((round) => read(round[peer], what.metric)),
        target,
      );
    const named = (metric) => ({ metric, ...metrics[metric] });
    if (offered.mode === 'closed') {
      if (way === measuring) return;
      add(named('msgs_per_s'), endOfTurn, 0.97);
      return;
    }
    if (way === measuring) {
      if (crowd !== undefined) add(named('cpu_us_per_msg'), `fixed ${budget}`, 0.98);
      return;
    }
    const best = bestWithin(rounds, budget, offered);
    if (best === undefined) {
      bench.note(`${name}: no arm within ${budget} ms took what was offered`);
      return;
    }
    bench.note(`${name}, within ${budget} ms: the best way in hindsight was ${best}`);
    add(scored, best, 0.91, bestWay);
    for (const [of, peer, target] of cpuTargets[name] ?? []) {
      if (of === budget) add(named('cpu_us_per_msg'), peer, target);
    }
    const turn = valuesOf(rounds, endOfTurn, 'p99_ms');
    bench.add(
      { case: `${name} ${way}`, peer: null, backend, ...named('p99_ms') },
      valuesOf(rounds, way, 'p99_ms'),
      Math.max(...turn) + budget + 2,
      1,
    );
  }
});

function read(sample, metric) {
  return metric === 'score' ? score(sample) : sample[metric];
}

/** One point for each way that kept up: CPU per message against the median latency. */
function pointsOf(rounds, offered) {
  const middle = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
  return Object.keys(rounds[0])
    .filter((way) => way !== measuring)
    .filter((way) => rounds.every((round) => keepsUp(round[way], offered)))
    .map((way) => ({
      way,
      cpu: middle(valuesOf(rounds, way, 'cpu_us_per_msg')),
      latency: middle(valuesOf(rounds, way, 'p50_ms')),
    }));
}
