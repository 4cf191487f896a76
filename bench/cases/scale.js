/** Rooms, broadcasts and durable tasks over several processes and a broker, all on this machine. */
import { createRequire } from 'node:module';
import { partCores } from '../../packages/lab/run/cores.js';
import { noteGenerator } from '../lib/checks.js';
import { armsOf } from '../lib/experiment.js';
import { metrics as ofLoad } from '../lib/load.js';
import { Refused } from '../lib/refused.js';
import { median } from '../lib/statistics.js';

const crowd = { connections: 500, rooms: 10, payload: 100, protocol: 'raw' };
const closed = { ...crowd, mode: 'closed' };
/** Open load, less than either can do, so that both do the same. */
const open = { ...crowd, mode: 'open', deliveriesRate: 30_000 };

/** Rooms over nodes that share a core with their broker, against `unbatched`. With `quick: false` it is left out of a quick run that is not kept. */
const rooms = [
  { name: 'rooms 1 node', nodes: 1, load: closed, cpu: 0.95, quick: false },
  { name: 'rooms 2 nodes', nodes: 2, load: closed, cpu: 1.25 },
  { name: 'rooms 3 nodes', nodes: 3, load: closed, cpu: 1.25, quick: false },
  { name: 'rooms 3 nodes 30k', nodes: 3, load: open, cpu: 0.95 },
];

const adapters = {
  'redis-adapter': { cpu_us_per_msg: 2 },
  'redis-streams-adapter': { cpu_us_per_msg: 2 },
};

/** Broadcasts of one server of socket.io to the 20 clients of another. The streams of Redis also keep them; ours and Redis' channels do not. */
const broadcasts = [
  { name: 'socket.io 2 nodes', perTurn: 1, many: { quick: 2500, full: 20_000 } },
  {
    name: 'socket.io 2 nodes 10 a turn',
    ...{ perTurn: 10, many: { quick: 4000, full: 20_000 }, quick: false },
  },
];

/**
 * Durable tasks. `bullmq` gives what it writes to the system at once and to the disk when that likes, as JetStream does, which syncs
 * every two minutes: what is acknowledged survives kill -9 of the server and not a power cut. `bullmq everysec` syncs every second.
 */
const tasks = [
  {
    name: 'durable tasks',
    work: (quick) => ({ bulk: quick ? 5000 : 30_000 }),
    peers: { bullmq: { tasks_per_s: 1, cpu_us_per_task: 2 }, 'bullmq everysec': {} },
    metrics: ['tasks_per_s', 'stored_per_s', 'cpu_us_per_task'],
  },
  {
    name: 'durable tasks one at a time',
    quick: false,
    work: (quick) => ({ single: quick ? 300 : 3000 }),
    peers: { bullmq: {}, 'bullmq everysec': {} },
    metrics: ['stored_per_s', 'cpu_us_per_task'],
  },
];

/** ms; the time after which a silent node, or worker, is given up is its own setting. */
const heartbeat = 500;
const ackWait = 1000;

const version = (name) => createRequire(import.meta.url)(`${name}/package.json`).version;

export default {
  question: 'Rooms and durable tasks over several processes and a broker',
  needs: ['nats-server', 'redis-server'],
  place: 100,
  rows: {
    'rooms 2 nodes': [
      '500 clients of 10 rooms on two servers, a broker between them',
      ['msgs_per_s', 'unbatched'],
      ['cpu_us_per_msg', 'unbatched'],
    ],
    'rooms 3 nodes 30k': [
      '30,000 messages/s on three such servers',
      ['cpu_us_per_msg', 'unbatched'],
      ['p50_ms', 'unbatched'],
    ],
    'broker hop': ['a message to a member on another machine', ['p50_ms', 'same node']],
    'socket.io 2 nodes': ['socket.io on two servers', ['msgs_per_s', 'redis-adapter']],
    'durable tasks': [
      'durable tasks, handed in at once, until they are done',
      ['tasks_per_s', 'bullmq'],
      ['cpu_us_per_task', 'bullmq'],
    ],
    'durable tasks one at a time': [
      'durable tasks, each handed in when the one before is stored',
      ['stored_per_s', 'bullmq'],
      ['cpu_us_per_task', 'bullmq'],
    ],
  },
  async *experiments(bench) {
    const { quick, isBrief } = bench;
    const listed = (all) =>
      all.filter((each) => bench.isListed({ name: each.name, quick: isBrief ? each.quick : true }));
    bench.note(
      ['bullmq', 'ioredis', 'socket.io'].map((name) => `${name} ${version(name)}`).join(', '),
    );
    yield* ofRooms(bench, listed(rooms));
    yield* ofHop(quick);

    const { measureSocketIo } = await import('../programs/scale/socketio/measure.js');
    for (const { name, perTurn, many } of listed(broadcasts)) {
      const peers = isBrief ? firstOf(adapters) : adapters;
      const load = { broadcasts: quick ? many.quick : many.full, perTurn };
      yield {
        ...{ name, peers, rounds: quick ? 6 : 15, warmup: quick ? 0 : 1 },
        arms: armsOf(
          ['millrace', ...Object.keys(peers)],
          (subject) => () => measureSocketIo(subject, load),
        ),
        metrics: ['msgs_per_s', 'cpu_us_per_msg'],
      };
    }

    const { measureTasks } = await import('../programs/scale/tasks/measure.js');
    for (const { name, work, peers: all, metrics } of listed(tasks)) {
      // In quick runs the first, for time.
      const peers = quick ? firstOf(all) : all;
      yield {
        ...{ name, peers, metrics, rounds: quick ? 6 : 15, warmup: quick ? 0 : 1 },
        arms: armsOf(
          ['millrace', ...Object.keys(peers)],
          (subject) => () => measureTasks(subject, work(quick), { bulk: 2000 }),
        ),
      };
    }
    yield* recoveries(bench);
  },
};

async function* ofRooms(bench, listed) {
  const { quick } = bench;
  const { measureRooms } = await import('../programs/scale/rooms/measure.js');
  const cores = partCores();
  bench.note(
    cores === null
      ? 'broker and nodes are not apart from the generator: there is one core, or no taskset'
      : `broker and nodes on core ${cores.server}`,
  );
  const timing = quick ? { warmup: 0.5, seconds: 1 } : { warmup: 1, seconds: 4 };
  for (const { name, nodes, load, cpu } of listed) {
    yield {
      ...{ name, rounds: quick ? 6 : 9, warmup: quick ? 0 : 1 },
      arms: armsOf(['millrace', 'unbatched'], (subject) => () => {
        const fleet = { subject, nodes, core: cores?.server };
        return measureRooms(name, fleet, { ...load, ...timing, drain: 30 });
      }),
      // In a closed loop latency is what the loop makes it.
      metrics: load.mode === 'open' ? ofLoad : ['msgs_per_s', 'cpu_us_per_msg'],
      peers: { unbatched: { cpu_us_per_msg: cpu } },
      notes: (rounds) => [
        noteBatches(name, rounds, nodes),
        ...noteGenerator(name, rounds),
        noteBroker(name, rounds),
      ],
    };
  }
  cores?.release();
}

/** Batching must be seen to be on. */
function noteBatches(name, rounds, nodes) {
  if (nodes === 1) return null;
  const everywhere = rounds.flatMap(({ millrace }) => millrace.stats.map(({ across }) => across));
  const sum = (key) => everywhere.reduce((total, across) => total + across[key], 0);
  const [messages, batches] = [sum('sent'), sum('sentBatches')];
  if (batches === 0) throw new Refused(`in '${name}' nothing went to the broker`);
  return `${name}: ${(messages / batches).toFixed(1)} messages in a batch to the broker`;
}

function noteBroker(name, rounds) {
  const [ours, theirs] = ['millrace', 'unbatched'].map((subject) =>
    median(rounds.map((round) => round[subject].broker_us_per_msg)).toPrecision(2),
  );
  return `${name}: of the CPU the broker's is ${ours} us, unbatched ${theirs} us`;
}

async function* ofHop(quick) {
  const { measureHop } = await import('../programs/scale/rooms/hop.js');
  const to = { millrace: 'remote', 'same node': 'local' };
  yield {
    ...{ name: 'broker hop', rounds: quick ? 6 : 15, warmup: 0 },
    arms: { millrace: () => measureHop('millrace', quick ? 300 : 2000) },
    metrics: ['p50_ms', 'p99_ms'].map((metric) => ({
      metric,
      of: ({ millrace }, arm) => millrace[to[arm]][metric],
    })),
    peers: { 'same node': undefined },
  };
}

/** The first in every quick run, the others in those that are kept. */
async function* recoveries({ quick, isBrief }) {
  const { brokerRecovery, nodeRecovery } = await import('../programs/scale/rooms/recovery.js');
  const { workerRecovery } = await import('../programs/scale/tasks/recovery.js');
  const faults = {
    'recovery broker': [brokerRecovery, 2000],
    'recovery node': [() => nodeRecovery(heartbeat), 4 * heartbeat + 500],
    'recovery worker': [() => workerRecovery(ackWait), 2 * ackWait + 500],
  };
  for (const [name, [once, bound]] of Object.entries(isBrief ? firstOf(faults) : faults)) {
    yield {
      ...{ name, rounds: quick ? 6 : 9, warmup: 0 },
      arms: { millrace: () => once() },
      bounds: [['recovery_ms', bound]],
      notes: () =>
        name === 'recovery broker'
          ? [
              `recovery: heartbeat ${heartbeat} ms, ackWait ${ackWait} ms; the broker is away for 500 ms`,
            ]
          : [],
    };
  }
}

const firstOf = (all) => Object.fromEntries(Object.entries(all).slice(0, 1));
