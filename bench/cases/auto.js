/**
 * The costs of auto: of a start, of memory, and per request where it can do nothing, on servers that answer at once, that ask PostgreSQL and
 * that send each client a frame of its own, by ws alone and as subscriptions of GraphQL; what observe costs the first of them; and the costs of a dashboard and of metrics.
 */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { randomFrom } from '@millrace/lab/stats';
import { findPostgres, startPostgres } from '../../scripts/lib/postgres.js';
import { ClosedLoop } from '../lib/closed-loop.js';
import { pinned } from '../lib/cores.js';
import { countingArms } from '../lib/counts.js';
import { armsOf, programPath } from '../lib/experiment.js';
import { Refused } from '../lib/refused.js';
import { cpuShare } from '../programs/auto/dashboard.js';
import { idleMemory } from '../programs/auto/memory.js';
import { startAll } from '../programs/auto/start.js';

/** CPU time and time that auto may add to the start of an empty module. */
const mostAddedMs = 10;
/** Least difference in ms that counts: two starts without anything differ by as much. */
const leastMs = 0.1;
/** Least difference in MB that counts: one process happens to use a page more than another. */
const leastMb = 0.1;
/** The factor that each must reach at least, and the most memory that it may add. */
const bounds = { auto: { ahead: 0.98, addedMb: 3 }, observe: { ahead: 0.95, addedMb: 8 } };
/** Share of a core that an open dashboard may take. */
const mostShare = 0.01;
/** CPU ms that a scrape may take, by emitters and batches. */
const scrapes = {
  scrape: { objects: 1, collect: 1, text: 2 },
  'scrape 100': { objects: 100, collect: 10, text: 20 },
};

/** An application with packages of its own, which its experiment installs. */
const installed = new URL('../claims/auto/apps/installed/', import.meta.url);

const preload = ['--import', 'millrace/auto'];
const subjects = {
  none: { env: 'MILLRACE=', options: [] },
  auto: { env: 'MILLRACE=', options: preload },
  observe: { env: 'MILLRACE=observe', options: preload },
};

/** Requests of a slice take some tens of ms. */
const servers = {
  hello: {
    program: 'server',
    compared: ['auto', 'observe'],
    slice: 2000,
    load: (port) => new ClosedLoop(port, 100),
  },
  users: {
    program: 'users',
    compared: ['auto'],
    slice: 500,
    load: (port) => new ClosedLoop(port, 10),
  },
  frames: { program: 'frames', compared: ['auto'], slice: 2000 },
  graphql: { program: 'application', compared: ['auto'], slice: 500 },
};

export default {
  question: 'What auto mode, observe mode, the dashboard and metrics cost',
  needs: ['postgresql'],
  place: 180,
  rows: {
    'hello auto': ['hello world under `millrace/auto`', ['cpu_us_per_req', 'none']],
    'users auto': ['a row of PostgreSQL by `node:http`', ['cpu_us_per_req', 'none']],
    'frames auto': ['`ws`, a frame of its own to each client', ['cpu_us_per_req', 'none']],
    'hello observe': ['hello world under `observe`', ['cpu_us_per_req', 'none']],
  },
  async *experiments(bench) {
    const { quick } = bench;
    yield start(quick, randomFrom(bench.seed));
    yield idle(quick);

    const { prefix, note } = pinned();
    bench.note(`cost: ${note}`);
    const command = (subject, flags = []) => {
      const { env, options } = subjects[subject];
      return [...prefix, 'env', env, process.execPath, ...flags, ...options];
    };
    const cost = (name, args = []) => costOf(quick, name, command, args);
    yield cost('hello');
    if (!quick) {
      const counting = armsOf(Object.keys(subjects), (subject) => (flags) => [
        ...command(subject, flags),
        programPath('auto/server.js'),
      ]);
      yield {
        ...countingArms('hello counts', counting),
        comparisons: ['auto', 'observe'].map((ours) => ({ case: `hello ${ours}`, ours })),
        peers: { none: undefined },
      };
    }
    yield* users(cost);
    const { Fan } = await import('../programs/auto/fan.js');
    const frames = cost('frames');
    yield { ...frames, slices: { ...frames.slices, load: (port) => new Fan(port, 100) } };

    if (existsSync(new URL('node_modules/graphql-ws', installed))) {
      const { Subscriptions } = await import('../programs/auto/subscriptions.js');
      const graphql = cost('graphql', [fileURLToPath(new URL('graphql.js', installed))]);
      const load = (port) => new Subscriptions(port, 100);
      yield { ...graphql, slices: { ...graphql.slices, load } };
    } else {
      bench.note('graphql: not measured; make experiment NAME=auto-graphql installs its packages');
    }

    yield dashboard(quick);
    for (const [name, { objects, collect, text }] of Object.entries(scrapes)) {
      yield {
        name,
        arms: { millrace: ['auto/scrape-arm.js', objects] },
        rounds: quick ? 6 : 21,
        bounds: [
          ['collect_cpu_ms', collect],
          ['text_cpu_ms', text],
        ],
      };
    }
  },
};

function start(quick, random) {
  const of = (arm, what) => (round) => round.all[arm][what];
  const comparison = (way, what) => {
    const metric = { metric: `start_${what}_ms`, of: (round, arm) => round.all[arm][what] };
    const [ours, empty] = [of(`${way} auto`, what), of(`${way} empty`, what)];
    const added = (round) => Math.max(leastMs, ours(round) - empty(round));
    return {
      ...{ case: `start ${way}`, ours: `${way} auto`, metrics: [metric] },
      peers: { 'empty module': undefined, none: undefined },
      theirs: { 'empty module': `${way} empty` },
      bounds: [[{ metric: `added_${what}_ms`, of: added }, mostAddedMs]],
    };
  };
  return {
    name: 'start',
    // Interleaved within a round too: each arm sees the same of what else the machine does.
    arms: { all: () => startAll(random) },
    rounds: quick ? 8 : 60,
    comparisons: ['import', 'require'].flatMap((way) =>
      ['cpu', 'wall'].map((what) => comparison(way, what)),
    ),
  };
}

const idle = (quick) => ({
  name: 'idle',
  arms: { auto: () => idleMemory(preload), none: () => idleMemory([]) },
  ...{ rounds: quick ? 9 : 31, warmup: 0 },
  comparisons: [
    {
      case: 'idle auto',
      metrics: ['rss_mb'],
      peers: { none: undefined },
      bounds: [
        [
          {
            metric: 'added_private_mb',
            of: ({ auto, none }) => Math.max(leastMb, auto.private_mb - none.private_mb),
          },
          3,
        ],
      ],
    },
  ],
});

function costOf(quick, name, command, args) {
  const { program, compared, slice, load } = servers[name];
  const server = (subject) => ({
    command: [...command(subject), programPath(`auto/${program}.js`), ...args],
  });
  const added = (round, ours) =>
    Math.max(leastMb, round[ours].stats.rss_mb - round.none.stats.rss_mb);
  return {
    name,
    rounds: quick ? 12 : 30,
    slices: {
      servers: armsOf(['none', ...compared], server),
      ...{ load, slice, laps: 10, warmup: 10 },
    },
    metrics: ['cpu_us_per_req'],
    comparisons: compared.map((ours) => ({
      ...{ case: `${name} ${ours}`, ours, peers: { none: bounds[ours].ahead } },
      bounds: [[{ metric: 'added_rss_mb', of: added }, bounds[ours].addedMb]],
    })),
  };
}

async function* users(cost) {
  const bin = findPostgres();
  if (!bin) throw new Refused('there is no PostgreSQL; on Debian: apt-get install postgresql');
  const postgres = await startPostgres(bin);
  try {
    yield cost('users', [postgres.url]);
  } finally {
    await postgres.remove();
  }
}

function dashboard(quick) {
  const seconds = quick ? 2 : 15;
  return {
    name: 'dashboard',
    arms: {
      none: () => cpuShare([], false, seconds),
      closed: () => cpuShare(['dashboard'], false, seconds),
      open: () => cpuShare(['dashboard'], true, seconds),
    },
    ...{ rounds: quick ? 6 : 15, warmup: 0 },
    metrics: ['cpu_share'],
    comparisons: [
      {
        ...{ case: 'dashboard open', ours: 'open', peers: { none: undefined } },
        bounds: [['cpu_share', mostShare]],
      },
      { case: 'dashboard closed', ours: 'closed', peers: { none: 0.95 } },
    ],
  };
}
