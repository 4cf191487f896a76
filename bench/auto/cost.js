/**
 * The costs of auto where it can do nothing: servers that answer at once, that ask PostgreSQL, and that send each client a frame of its own,
 * by ws alone and as subscriptions of GraphQL; and what observe costs the first of them.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findPostgres, startPostgres } from '../../scripts/lib/postgres.js';
import { ClosedLoop } from '../lib/closed-loop.js';
import { pinned } from '../lib/cores.js';
import { countRequests } from '../lib/counts.js';
import { Refused } from '../lib/refused.js';
import { Fan } from './fan.js';
import { Subscriptions } from './subscriptions.js';

const program = (name) => fileURLToPath(new URL(`./${name}.js`, import.meta.url));
/** An application with packages of its own, which its experiment installs. */
const installed = new URL('../claims/auto/apps/installed/', import.meta.url);
const graphql = fileURLToPath(new URL('graphql.js', installed));
/** The factor that each must reach at least, and the most memory that it may add. */
const bounds = { auto: { ahead: 0.98, addedMb: 3 }, observe: { ahead: 0.95, addedMb: 8 } };
/** Less is the page that one process happens to use more than another. */
const leastMb = 0.1;

const preload = ['--import', 'millrace/auto'];
const subjects = {
  none: { env: 'MILLRACE=', options: [] },
  auto: { env: 'MILLRACE=', options: preload },
  observe: { env: 'MILLRACE=observe', options: preload },
};

/** Requests of a slice take some tens of ms. */
const cases = {
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
  frames: {
    program: 'frames',
    compared: ['auto'],
    slice: 2000,
    load: (port) => new Fan(port, 100),
  },
  graphql: {
    program: 'application',
    compared: ['auto'],
    slice: 500,
    load: (port) => new Subscriptions(port, 100),
  },
};

const cpu = { metric: 'cpu_us_per_req', unit: 'us', better: 'lower' };
const memory = { metric: 'added_rss_mb', unit: 'MB', better: 'lower', peer: null };

/** Adds a case for each of these servers: `hello auto`, `hello observe`, `users auto`, `frames auto`, `graphql auto`. */
export async function compareCosts(bench) {
  const { prefix, note } = pinned();
  bench.note(`cost: ${note}`);
  await compare(bench, 'hello', prefix);
  if (!bench.quick) await addCounts(bench, prefix);
  const bin = findPostgres();
  if (!bin) throw new Refused('there is no PostgreSQL; on Debian: apt-get install postgresql');
  const postgres = await startPostgres(bin);
  try {
    await compare(bench, 'users', prefix, [postgres.url]);
  } finally {
    await postgres.remove();
  }
  await compare(bench, 'frames', prefix);
  if (existsSync(new URL('node_modules/graphql-ws', installed))) {
    await compare(bench, 'graphql', prefix, [graphql]);
  } else {
    bench.note('graphql: not measured; make experiment NAME=auto-graphql installs its packages');
  }
}

async function compare(bench, title, prefix, args = []) {
  const { quick } = bench;
  const { program: name, compared, slice, load } = cases[title];
  const command = (subject) => [...commandOf(subject, prefix), program(name), ...args];
  const servers = Object.fromEntries(
    ['none', ...compared].map((subject) => [subject, { command: command(subject) }]),
  );
  const plan = { servers, load, slice, laps: 10, warmup: 10 };
  const rounds = await bench.slices(title, plan, quick ? 12 : 30);
  for (const subject of compared) {
    const named = { case: `${title} ${subject}` };
    const { ahead, addedMb } = bounds[subject];
    const per = (who) => rounds.map((round) => round[who].cpu_us_per_req);
    bench.add({ ...named, peer: 'none', ...cpu }, per(subject), per('none'), ahead);
    const added = rounds.map((round) =>
      Math.max(leastMb, round[subject].stats.rss_mb - round.none.stats.rss_mb),
    );
    bench.add({ ...named, ...memory }, added, addedMb, 1);
  }
}

async function addCounts(bench, prefix) {
  const commands = Object.keys(subjects).map((subject) => [
    subject,
    (flags) => [...commandOf(subject, prefix, flags), program('server')],
  ]);
  const add = await countRequests(bench, 'hello counts', Object.fromEntries(commands));
  for (const subject of ['auto', 'observe']) add({ case: `hello ${subject}` }, subject, 'none');
}

function commandOf(subject, prefix, flags = []) {
  const { env, options } = subjects[subject];
  return [...prefix, 'env', env, process.execPath, ...flags, ...options];
}
