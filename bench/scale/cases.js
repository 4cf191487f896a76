/** What is measured, and the least that `ahead` has to be; bounds where there is no peer. */

const crowd = { connections: 500, rooms: 10, payload: 100, protocol: 'raw' };
const closed = { ...crowd, mode: 'closed' };
/** Fewer than either can do, so that both do the same. */
const open = { ...crowd, mode: 'open', deliveriesRate: 30_000 };

/** Rooms over nodes that share a core with their broker, against `unbatched`. With `quick: false` it is left out of a quick run that is not kept. */
export const rooms = [
  {
    ...{ name: 'rooms 1 node', nodes: 1, load: closed, targets: { cpu_us_per_msg: 0.95 } },
    quick: false,
  },
  { name: 'rooms 2 nodes', nodes: 2, load: closed, targets: { cpu_us_per_msg: 1.25 } },
  {
    ...{ name: 'rooms 3 nodes', nodes: 3, load: closed, targets: { cpu_us_per_msg: 1.25 } },
    quick: false,
  },
  { name: 'rooms 3 nodes 30k', nodes: 3, load: open, targets: { cpu_us_per_msg: 0.95 } },
];

const adapters = {
  'redis-adapter': { cpu_us_per_msg: 2 },
  'redis-streams-adapter': { cpu_us_per_msg: 2 },
};

/** Broadcasts of one server of socket.io to the 20 clients of another. The streams of Redis also keep them; ours and Redis' channels do not. */
export const broadcasts = [
  {
    name: 'socket.io 2 nodes',
    load: (quick) => ({ broadcasts: quick ? 2500 : 20_000, perTurn: 1 }),
    peers: adapters,
  },
  {
    name: 'socket.io 2 nodes 10 a turn',
    quick: false,
    load: (quick) => ({ broadcasts: quick ? 4000 : 20_000, perTurn: 10 }),
    peers: adapters,
  },
];

/**
 * Durable tasks. `bullmq` gives what it writes to the system at once and to the disk when that likes, as JetStream does, which syncs
 * every two minutes: what is acknowledged survives kill -9 of the server and not a power cut. `bullmq everysec` syncs every second.
 * Of many at once `beside` names the case without which no short table shows it.
 */
export const tasks = [
  {
    name: 'durable tasks',
    beside: 'durable tasks one at a time',
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
export const heartbeat = 500;
export const ackWait = 1000;
/** The first in every quick run, the others in those that are kept. */
export const recoveryBounds = {
  'recovery broker': 2000,
  'recovery node': 4 * heartbeat + 500,
  'recovery worker': 2 * ackWait + 500,
};
