/** Servers that are offered too much, or have nothing to do: the guard against none and against under-pressure. */
import { runArm } from '../lib/arm.js';
import { ClosedLoop } from '../lib/closed-loop.js';
import { pinned } from '../lib/cores.js';
import { countingArms } from '../lib/counts.js';
import { armsOf, programPath } from '../lib/experiment.js';
import { startServer } from '../lib/load.js';
import { mean, median, share } from '../lib/statistics.js';
import { classes } from '../programs/guard/offers.js';

/**
 * - `path` of its requests, of programs/guard/offers.js.
 * - `connections`: a closed loop, each sends its next request when it has its answer; `times`: an open loop
 *   of this many times the capacity. That is measured by `alone` connections: where a handler waits, one would leave the CPU idle.
 * - `quick`: rounds of a quick run, seconds of warm-up, and seconds that count; false: only in a full run.
 * - `wanted`: the least that `ahead` has to be for good answers against peers; whether the targets of /health, of the
 *   classes that must not be shed or must all have good answers, and of the slowest answers hold.
 */
const cases = {
  '25ms closed 50': {
    path: 'work',
    connections: 50,
    quick: [6, 1, 1.5],
    wanted: { good: { capacity: 0.9, 'under-pressure': 3.5 }, health: true, cold: true },
  },
  '25ms open 0.75x': {
    path: 'work',
    times: 0.75,
    quick: false,
    wanted: { admitted: ['high', 'normal'] },
  },
  '25ms open 1.5x': { path: 'work', times: 1.5, quick: false, wanted: { high: true } },
  '25ms open 10x': {
    path: 'work',
    times: 10,
    quick: [6, 0.5, 1.2],
    wanted: { good: { capacity: 0.9 } },
  },
  'mixed 2x': {
    path: 'mixed',
    times: 2,
    quick: [6, 0.6, 1.3],
    wanted: { good: { unprotected: 1.4 } },
  },
  'async 1.5x': {
    path: 'async',
    times: 1.5,
    alone: 4,
    quick: [6, 0.6, 1.3],
    // Both can use all of the CPU: no worse is what can be told.
    wanted: { good: { unprotected: 0.95 }, slowestMs: 500 },
  },
};
const ours = 'millrace';
const usualPeers = ['unprotected', 'under-pressure'];
/** Questions for /health, each second. */
const health = 40;
const full = [6, 1.5, 4];
/** /health has to answer within this many times what a handler takes. */
const handlers = 3;
const noWorse = 0.95;

export default {
  question: 'What a guard is worth to a server that is offered too much',
  place: 70,
  rows: {
    '25ms closed 50': [
      '25 ms handlers, 50 clients that ask again at once',
      [
        'good_per_s',
        'under-pressure',
        {
          readme: 'overload: handlers of 25 ms, 50 clients that ask again at once',
          beside: '25ms open 10x',
        },
      ],
      ['good_per_s', 'capacity'],
      ['health_p99_ms', 'under-pressure'],
    ],
    '25ms open 10x': ['offered ten times what it can do', ['good_per_s', 'capacity']],
    'async 1.5x': [
      'async handlers, offered 1.5 times that',
      ['high_success', 'unprotected'],
      ['good_per_s', 'unprotected'],
    ],
    'mixed 2x': ['1 ms and 50 ms mixed, twice too much', ['good_per_s', 'unprotected']],
    'idle overhead': [
      'hello world, 100 connections',
      [
        'cpu_us_per_req',
        'unprotected',
        { readme: 'the guard, where it has nothing to do: hello world, 100 connections' },
      ],
    ],
  },
  async *experiments(bench) {
    const { quick } = bench;
    const { prefix, note } = pinned();
    bench.note(note);
    const command = (subject, { perMs = 1, flags = [] } = {}) => [
      ...prefix,
      ...[process.execPath, ...flags, programPath('guard/server.js')],
      ...[subject, `${perMs}`],
    ];
    const perMs = await calibrate(command('unprotected'));
    /** Requests/s of each handler alone, by path. */
    const capacities = new Map();

    /** Runs an arm, in processes of its own. The arms of a round get the same requests at the same times. */
    const run = (name, subject, [warmup, seconds], { seed, ...more }) => {
      const { path } = cases[name];
      const plan = { path, subject, command: command(subject, { perMs }), perMs };
      const all = { ...plan, warmup, seconds, seed: (bench.seed + seed) % 2 ** 32, ...more };
      return runArm(programPath('guard/arm.js'), [JSON.stringify(all)]);
    };
    /** The handler as it is, for one client after the other. */
    const alone = (name) => {
      const connections = cases[name].alone ?? 1;
      return run(name, 'unprotected', [0.3, quick ? 1.2 : 1.5], { connections, seed: 0 });
    };

    for (const [name, which] of Object.entries(cases)) {
      if (!bench.isListed({ name, quick: which.quick })) continue;
      const { path, connections, times, wanted } = which;
      const [rounds, ...measured] = (quick && which.quick) || full;
      const isWanted = (peer) => wanted.good?.[peer] !== undefined;
      const peers = quick ? usualPeers.filter(isWanted) : [...usualPeers];
      if (!quick && name === '25ms closed 50') peers.push('under-pressure tuned');

      if (!capacities.has(path)) capacities.set(path, (await alone(name)).good_per_s);
      const capacity = capacities.get(path);
      const load = times === undefined ? { connections } : { rate: times * capacity };
      const arm =
        (subject, seconds = measured, more = {}) =>
        (round) =>
          run(name, subject, seconds, { ...load, health, seed: round, ...more });
      const arms = armsOf([ours, ...peers], (subject) => arm(subject));
      if (isWanted('capacity')) arms.capacity = () => alone(name);
      // Everybody connects at once to a server that has just started.
      if (wanted.cold) arms[`${ours} cold`] = arm(ours, [0, 1.2], { cold: true });
      yield {
        ...{ name, arms, rounds, warmup: 0 },
        comparisons: comparisonsOf(which, { peers, hasCapacity: isWanted('capacity') }).concat(
          healthOf(name, wanted, { peers, handlerMs: 1000 / capacity }),
        ),
        notes: (all) => notesOf(name, all, capacity),
      };
    }

    yield idleOverhead(command, quick);
    if (quick) return;
    // Counts have no target.
    yield {
      ...countingArms(
        'idle overhead',
        armsOf([ours, 'unprotected'], (subject) => (flags) => command(subject, { flags })),
      ),
      peers: { unprotected: undefined },
    };
  },
};

async function calibrate(command) {
  const server = await startServer({ command });
  try {
    return (await server.ask('calibrate')).perMs;
  } finally {
    await server.stop();
  }
}

/** A share of requests, whose mean shows the exception. */
const shareOf = (metric, count) => ({
  metric,
  ...{ unit: '1', better: 'higher', summary: mean },
  of: (round, arm) => share(...count(round[arm])),
});
const named = (metric, value) => ({ metric, of: (round, arm) => value(round[arm]) });
/** Peers without targets. */
const plain = (names) => Object.fromEntries(names.map((name) => [name, undefined]));

function comparisonsOf({ wanted, times }, { peers, hasCapacity }) {
  // Nothing can be compared with none: a peer without a good answer counts as one with half of one.
  const good = named('good_per_s', (sample) => sample.good_per_s || 0.5 / sample.seconds);
  const high = shareOf('high_success', ({ classes: { high } }) => [high.good, high.offered]);
  const admitted = (name) =>
    shareOf(
      `${name}_admitted`,
      ({
        classes: {
          [name]: { shed, offered },
        },
      }) => [...[offered - shed, offered]],
    );
  const least = (isWanted) => (isWanted ? 1 : null);
  const all = hasCapacity ? [...peers, 'capacity'] : peers;
  return [
    {
      metrics: [good],
      peers: Object.fromEntries(all.map((peer) => [peer, wanted.good?.[peer]])),
      bounds: wanted.slowestMs ? [['ok_p99_ms', wanted.slowestMs]] : [],
    },
    { metrics: ['cpu_us_per_req'], peers: plain(peers) },
    ...(times === undefined
      ? []
      : [{ metrics: [high], peers: plain(peers), bounds: [[high, 1, least(wanted.high)]] }]),
    ...(times === undefined || !wanted.admitted
      ? []
      : [
          {
            bounds: Object.keys(classes).map((name) => [
              ...[admitted(name), 1, least(wanted.admitted.includes(name))],
            ]),
          },
        ]),
  ];
}

/** Answers of /health that are a 200, and how long they took. */
function healthOf(name, wanted, { peers, handlerMs }) {
  const of = (ours, metric, target, against) => ({
    ...{ ours, peers: plain(against) },
    metrics: [named(`${metric}_p99_ms`, (sample) => sample.health.p99_ms)],
    bounds: [
      [shareOf(`${metric}_success`, ({ health: { ok, n } }) => [ok, n]), 1, target],
      // Only the cases of 25 ms have one time for all handlers.
      ...(name.startsWith('25ms')
        ? [
            [
              named(`${metric}_p99_ms`, (sample) => sample.health.p99_ms),
              ...[handlers * handlerMs, target],
            ],
          ]
        : []),
    ],
  });
  return [
    of(ours, 'health', wanted.health ? 1 : null, peers),
    ...(wanted.cold ? [of(`${ours} cold`, 'health_cold', 1, [])] : []),
  ];
}

/** Notes beside the figures: requests behind a share, the speed of the machine, and the limits of the generator. */
function notesOf(name, rounds, capacity) {
  const samples = rounds.map((round) => round[ours]);
  const of = (value) => median(samples.map(value)).toFixed(0);
  const count = (kind) => sum(samples.map((sample) => sample.classes[kind].offered));
  const offered = () =>
    `${samples[0].rate.toFixed(0)}/s offered, of all rounds ${Object.keys(classes)
      .map((kind) => `${count(kind)} ${kind}`)
      .join(', ')}; `;
  const late = Math.max(...samples.map(({ generator }) => generator.late_p99_ms));
  const busiest = (subject) =>
    Math.max(...rounds.map((round) => round[subject].generator.utilization));
  return [
    `${name}: capacity ${capacity.toFixed(1)}/s; ${samples[0].rate === undefined ? '' : offered()}` +
      `answers of ${ours}: p50 ${of((s) => s.ok_p50_ms)} ms, p99 ${of((s) => s.ok_p99_ms)} ms; ` +
      `the generator was late by ${late.toFixed(1)} ms (p99, worst round)`,
    ...Object.keys(rounds[0])
      .filter((subject) => busiest(subject) > 0.9)
      .map((subject) => `${name}: the generator was the limit of ${subject}`),
  ];
}

/** The cost of a guard to a server that has time: `hello world`, 100 connections, each sends its next request when it has its answer. */
function idleOverhead(command, quick) {
  const name = 'idle overhead';
  return {
    name,
    rounds: quick ? 12 : 30,
    slices: {
      servers: armsOf([ours, 'unprotected'], (subject) => ({ command: command(subject) })),
      load: (port) => new ClosedLoop(port, 100),
      // Requests that take some tens of ms.
      ...{ slice: 2000, laps: 10, warmup: 10 },
    },
    comparisons: [
      {
        ours,
        metrics: ['good_per_s', 'cpu_us_per_req'],
        peers: { unprotected: { good_per_s: noWorse, cpu_us_per_req: noWorse } },
      },
      {
        ours,
        bounds: [
          [shareOf('admitted', ({ load: { answers, shed } }) => [answers, answers + shed]), 1],
        ],
      },
    ],
    notes(rounds) {
      const [answers, shed] = ['answers', 'shed'].map((what) =>
        sum(rounds.map((round) => round[ours].load[what])),
      );
      if (shed === 0) return [];
      return [`${name}: ${ours} answered ${shed} of ${answers + shed} requests with 503`];
    },
  };
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
