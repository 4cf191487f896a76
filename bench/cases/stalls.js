/**
 * Names of what blocks the loop: kinds of blocks, under Millrace and other tools, on releases of Node.js, as a matrix of outcomes. And what the watch
 * costs: an idle process, memory, a start, and requests, each with `millrace/auto` in both arms, once with `stalls`.
 *
 * RELEASE, TOOL and TRIES in the environment limit the matrix: to a major version of Node.js, a tool and a number of blocks.
 */
import { randomFrom } from '@millrace/lab/stats';
import { nodeOf } from '../../scripts/lib/runtimes.js';
import { ClosedLoop } from '../lib/closed-loop.js';
import { pinned } from '../lib/cores.js';
import { programPath } from '../lib/experiment.js';
import { Refused } from '../lib/refused.js';
import { cpuShare } from '../programs/auto/dashboard.js';
import { idleMemory } from '../programs/auto/memory.js';
import { startAll } from '../programs/auto/start.js';
import { keepMatrix } from '../programs/stalls/kept.js';
import { cellsOf, measureCell, outcomes } from '../programs/stalls/matrix.js';
import { tools } from '../programs/stalls/tools.js';

const releases = ['20', '22', '24'];
const usualTries = 10;
const quickTries = 3;
const preload = ['--import', import.meta.resolve('millrace/auto')];
/** Limits of what the watch may add, and the least that the difference of two processes tells. */
const mostShare = 0.003;
const mostMb = 10;
const mostStartMs = 15;
const least = { share: 0.0001, mb: 0.1, ms: 0.1 };

export default {
  question: 'Which blocks of the loop are named, and what watching it costs',
  needs: ['stall-peers'],
  keepsParts: true,
  place: 185,
  rows: {
    idle: ['an idle process under `stalls`, CPU beside `auto`', ['added_share', null]],
    memory: ['its memory', ['added_private_mb', null]],
    start: ['its start', ['added_cpu_ms', null]],
    requests: ['hello world under `stalls`', ['cpu_us_per_req', 'auto']],
  },
  async instead(bench) {
    if (bench.only !== 'matrix') return false;
    await matrix(bench);
    return true;
  },
  async *experiments(bench) {
    const { quick } = bench;
    bench.leaveOut({ ofCase: bench.only });
    bench.names.add('matrix');
    if (bench.only === null) await matrix(bench);
    yield idle(quick);
    yield memory(quick);
    yield start(quick, randomFrom(bench.seed));
    yield requests(quick, bench);
  },
};

/** Measures the matrix, prints each cell as a line of JSON, and keeps them with SAVE=1. */
async function matrix(bench) {
  const { RELEASE, TOOL, TRIES, SAVE } = process.env;
  const names = chosen('TOOL', TOOL, Object.keys(tools), Object.keys(tools));
  const running = process.versions.node.split('.')[0];
  const wanted = chosen('RELEASE', RELEASE, releases, bench.quick ? [running] : releases);
  const tries = TRIES ? Number(TRIES) : bench.quick ? quickTries : usualTries;
  if (!Number.isInteger(tries) || tries < 1) {
    throw new Refused(`TRIES is '${TRIES}'; it must be a whole number from 1`);
  }
  const nodes = wanted.map((release) => ({ release, ...nodeOf(release) }));
  const cells = cellsOf(names, nodes);
  for (const [n, cell] of cells.entries()) {
    const { kind, tool, release } = cell;
    const found = await measureCell({ ...cell, tries });
    const node = nodes.find((each) => each.release === release).version;
    const row = { kind, tool, release, node, tries, ...found };
    if (process.env.JSON) console.log(JSON.stringify(row));
    if (SAVE) keepMatrix([row]);
    const counts = outcomes.map((outcome) => `${outcome} ${found[outcome]}`).join(', ');
    bench.say(`${n + 1} of ${cells.length}: ${kind}, ${tool}, Node.js ${release}: ${counts}`);
  }
  if (!SAVE) return;
  // The tables read this file, among the other cases.
  const { writePages } = await import('../tables/pages.js');
  writePages();
}

function chosen(name, given, all, usual) {
  if (!given) return usual;
  if (all.includes(given)) return [given];
  throw new Refused(`${name} is '${given}'; there are ${all.join(', ')}`);
}

/** Environment of an arm. */
const modes = { stalls: 'stalls', auto: '' };
const both = (arm) => ({ stalls: () => arm('stalls'), auto: () => arm('auto') });

/** A bound of what `stalls` adds to `auto`. */
const added = (metric, of, floor, bound) => [
  { metric, of: ({ stalls, auto }) => Math.max(floor, of(stalls) - of(auto)) },
  bound,
];

function idle(quick) {
  const seconds = quick ? 5 : 30;
  const arm = (name) =>
    cpuShare([], false, seconds, { flags: preload, env: { MILLRACE: modes[name] } });
  return {
    name: 'idle',
    arms: both(arm),
    ...{ rounds: quick ? 6 : 15, warmup: 0 },
    bounds: [added('added_share', (sample) => sample.cpu_share, least.share, mostShare)],
  };
}

const memory = (quick) => ({
  name: 'memory',
  arms: both((name) => idleMemory(preload, modes[name])),
  ...{ rounds: quick ? 6 : 31, warmup: 0 },
  bounds: [added('added_private_mb', (sample) => sample.private_mb, least.mb, mostMb)],
});

function start(quick, random) {
  const arms = { stalls: preload, auto: preload };
  const startOf = (what) => (metric) => [
    {
      metric,
      of: ({ all }) => Math.max(least.ms, all.stalls[what] - all.auto[what]),
    },
    mostStartMs,
  ];
  return {
    name: 'start',
    arms: { all: () => startAll(random, arms, modes) },
    rounds: quick ? 8 : 60,
    comparisons: [
      { ours: 'all', bounds: [startOf('cpu')('added_cpu_ms'), startOf('wall')('added_wall_ms')] },
    ],
  };
}

function requests(quick, bench) {
  const { prefix, note } = pinned();
  bench.note(`requests: ${note}`);
  const server = (name) => ({
    command: [...prefix, process.execPath, ...preload, programPath('auto/server.js')],
    env: { MILLRACE: modes[name] },
  });
  return {
    name: 'requests',
    rounds: quick ? 12 : 30,
    slices: {
      servers: { stalls: server('stalls'), auto: server('auto') },
      ...{ load: (port) => new ClosedLoop(port, 100), slice: 2000, laps: 10, warmup: 10 },
    },
    metrics: ['cpu_us_per_req'],
    comparisons: [{ ours: 'stalls', peers: { auto: 0.99 } }],
  };
}
