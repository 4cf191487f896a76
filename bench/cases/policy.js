/**
 * Holds of `adaptive` against the best fixed delay in hindsight, by load. LOAD=5k,450k measures these loads alone, in a quick run those of a
 * full one, too.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { arm as armInGo, build } from '../go/arm.js';
import { runArm } from '../lib/arm.js';
import { noteGenerator, refuseBackend, refuseFaults } from '../lib/checks.js';
import { pinned } from '../lib/cores.js';
import { armsOf, programPath } from '../lib/experiment.js';
import { measure, program } from '../lib/load.js';
import { Refused } from '../lib/refused.js';
import { ensureResults } from '../lib/results.js';
import { median } from '../lib/statistics.js';
import { arm as armInC } from '../programs/c/arm.js';
import { estimators, patterns, simulate } from '../programs/policy/forecast.js';
import { writePicture } from '../programs/policy/picture.js';
import {
  bestWithin,
  endOfTurn,
  keepsUp,
  loads,
  measuring,
  score,
  ways,
  waysOfLogs,
} from '../programs/policy/ways.js';

/** Programs of durable logs, by backend. */
const logs = { c: armInC, go: armInGo };

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
const scored = { metric: 'score', of: (round, arm) => score(round[arm]) };

export default {
  question: 'Holds of `adaptive` against the best fixed delay in hindsight',
  needs: ['c', 'go'],
  place: 30,
  rows: {
    '50k adaptive 50': [
      '`Rooms`, 50,000 messages/s, `maxDelay: 50`',
      ['cpu_us_per_msg', 'direct', { against: 'policy `direct`' }],
      ['score', 'best in hindsight', { against: 'the best fixed delay within it' }],
      ['p99_ms', null],
    ],
    '50k adaptive 5': [
      'the same, `maxDelay: 5`',
      ['cpu_us_per_msg', 'direct', { against: 'policy `direct`' }],
      ['score', 'best in hindsight', { against: 'the best fixed delay within it' }],
    ],
    '20k adaptive 50': [
      '20,000 messages/s, `maxDelay: 50`',
      ['cpu_us_per_msg', 'end of turn'],
      ['score', 'best in hindsight', { against: 'the best fixed delay within it' }],
    ],
    'closed adaptive 50': [
      'as fast as answers come, `maxDelay: 50`',
      ['msgs_per_s', 'end of turn'],
    ],
    'inserts 1000 adaptive 50': [
      'durable inserts by `batch()`, 1,000/s, `maxDelay: 50`',
      ['score', 'best in hindsight', { against: 'the best fixed delay within it' }],
    ],
  },
  async *experiments(bench) {
    const { quick } = bench;
    const asked = askedLoads();
    await build('policy');
    const { prefix, note } = pinned();
    bench.note(note);
    const timing = quick ? { warmup: 2, seconds: 1.5 } : { warmup: 3, seconds: 5 };
    const size = quick ? { rounds: 6, warmup: 0 } : { rounds: 9, warmup: 1 };
    const isMeasured = (each) => !quick || each.quick !== false;
    const isAsked = (load) => (asked === null ? bench.isListed(load) : asked.includes(load.name));
    const curves = [];

    for (const load of loads.filter(isAsked)) {
      const { name, crowd, offered } = load;
      const backend = load.backend ?? (await import('../programs/fanout/servers.js')).backends[0];
      const arms = Object.keys(ways).filter((way) =>
        logs[backend] ? waysOfLogs.includes(way) : isMeasured(ways[way]),
      );
      const once = measuringOf({ ...load, backend }, timing, prefix);
      const rounds = yield {
        ...{ name, backend, ...size },
        arms: armsOf(arms, (way) => () => once(way)),
        comparisons: (all) => comparisonsOf(load, arms, all),
        notes: (all) => [
          ...(crowd === undefined ? [] : noteGenerator(name, all)),
          ...notesOf(load, arms, all),
        ],
      };
      if (rounds !== undefined && crowd !== undefined && offered.mode === 'open')
        curves.push({ name, points: pointsOf(rounds, offered) });
    }
    if (process.env.SAVE) writePicture(curves);
    yield* forecasts(bench.seed, size.rounds);
  },
};

/** Names of the loads that are wanted; null: all. */
function askedLoads() {
  const { LOAD, SAVE } = process.env;
  if (!LOAD) return null;
  const asked = LOAD.split(',');
  const unknown = asked.find((name) => !loads.some((load) => load.name === name));
  if (unknown !== undefined) {
    const names = loads.map(({ name }) => name).join(', ');
    throw new Refused(`LOAD has '${unknown}'; there are ${names}`);
  }
  if (SAVE) throw new Refused('SAVE=1 keeps a run of all loads; leave out LOAD');
  return asked;
}

/** A function that measures one way under a load: messages to rooms, durable inserts, or a durable log. */
function measuringOf({ name, crowd, backend, offered }, timing, prefix) {
  const { warmup, seconds } = timing;
  const log = logs[backend];
  if (log) return logged;
  return crowd === undefined ? inserted : sent;

  async function logged(way) {
    const folder = await mkdtemp(join(ensureResults(), 'policy-'));
    try {
      const args = [way, offered.perSecond, warmup, seconds, join(folder, 'log')];
      const { complete, ...sample } = await log('policy', ...args);
      return { ...sample, wrong: complete ? null : 'not all records were logged' };
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async function inserted(way) {
    ensureResults();
    const args = [offered.perSecond, way, warmup, seconds].map(String);
    const { complete, ...sample } = await runArm(programPath('policy/insert-arm.js'), args);
    return { ...sample, wrong: complete ? null : 'not all items were saved' };
  }

  async function sent(way) {
    const { policy, maxDelay, others } = ways[way];
    const options = { policy, maxDelay, maxPending: 1024 ** 3, ...others };
    const command = [process.execPath, program('rooms.js'), JSON.stringify(options)];
    const env = backend === 'js' ? {} : { MILLRACE_FANOUT: backend };
    const load = { payload: 100, protocol: 'raw', drain: 1, ...timing, ...crowd, ...offered };
    const sample = await measure({ command: [...prefix, ...command], env }, load);
    refuseFaults(name, way, sample.report, true);
    refuseBackend(name, way, sample.stats, backend);
    return { ...sample, cores: (sample.cpu_us_per_msg * sample.msgs_per_s) / 1e6 };
  }
}

const adaptiveWays = (arms) =>
  arms.filter((way) => ways[way].policy === 'adaptive' && ways[way].maxDelay > 0);

function comparisonsOf({ name, crowd, offered }, arms, rounds) {
  return adaptiveWays(arms).flatMap((ours) => {
    const budget = ways[ours].maxDelay;
    const named = { case: `${name} ${ours}`, ours };
    const cpu = (peer, target) => ({
      ...{ ...named, metrics: ['cpu_us_per_msg'] },
      peers: { [peer]: target },
    });
    if (offered.mode === 'closed') {
      if (ours === measuring) return [];
      return [{ ...named, metrics: ['msgs_per_s'], peers: { [endOfTurn]: 0.97 } }];
    }
    if (ours === measuring) return crowd === undefined ? [] : [cpu(`fixed ${budget}`, 0.98)];
    const best = bestWithin(rounds, budget, offered);
    if (best === undefined) return [];
    const latest = Math.max(...rounds.map((round) => round[endOfTurn].p99_ms));
    return [
      { ...named, metrics: [scored], peers: { [bestWay]: 0.91 }, theirs: { [bestWay]: best } },
      ...(cpuTargets[name] ?? [])
        .filter(([of]) => of === budget)
        .map(([, peer, target]) => cpu(peer, target)),
      { ...named, bounds: [['p99_ms', latest + budget + 2]] },
    ];
  });
}

function notesOf({ name, offered }, arms, rounds) {
  if (offered.mode === 'closed') return [];
  return adaptiveWays(arms)
    .filter((way) => way !== measuring)
    .map((way) => {
      const budget = ways[way].maxDelay;
      const best = bestWithin(rounds, budget, offered);
      return best === undefined
        ? `${name}: no arm within ${budget} ms took what was offered`
        : `${name}, within ${budget} ms: the best way in hindsight was ${best}`;
    });
}

/** A simulation, with another arrival of events in each round, the same for both. */
function* forecasts(seed, rounds) {
  const [peer, ours] = Object.keys(estimators);
  for (const [name, pattern] of Object.entries(patterns)) {
    for (const budget of budgetsForecast) {
      const arm = (estimator) => async (round) => ({
        score: simulate(pattern, estimators[estimator], budget, seed + round),
      });
      yield {
        ...{ name: `${ours}, ${name} ${budget}`, backend: 'js', rounds, warmup: 0 },
        arms: armsOf([ours, peer], arm),
        metrics: ['score'],
        peers: { [peer]: undefined },
      };
    }
  }
}

/** Returns a point for each way that kept up: CPU per message against the median latency. */
function pointsOf(rounds, offered) {
  const middle = (way, metric) => median(rounds.map((round) => round[way][metric]));
  return Object.keys(rounds[0])
    .filter((way) => way !== measuring)
    .filter((way) => rounds.every((round) => keepsUp(round[way], offered)))
    .map((way) => ({ way, cpu: middle(way, 'cpu_us_per_msg'), latency: middle(way, 'p50_ms') }));
}
