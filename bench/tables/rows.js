/**
 * The rows of docs/benchmarks/measured.md: which figures of which benchmark, in whose words. Those with `readme` are in the table of
 * README.md as well, where that is what they are about. There, a case that has a case `beside` it stands together with that one.
 */
import { cases as go } from '../go/cases.js';
import { loadAll } from '../lib/benchmarks.js';

/** By benchmark: its cases as a list or by their names, or a case by the name of the other. */
const marked = { go };

/** The case that stands beside one which is measured as fast as it goes; undefined without one. */
export function besideOf({ bench, case: title, beside }) {
  if (beside !== undefined) return beside;
  const all = marked[bench] ?? {};
  const found = Array.isArray(all) ? all.find(({ name }) => name === title) : all[title];
  return typeof found === 'string' ? found : found?.beside;
}

/** How a metric is called there: its words, and what its value is multiplied by. */
const metrics = {
  appends_per_s: ['appends/s'],
  bytes_per_s: ['GB/s', 1e-9],
  cpu_us_per_connection: ['CPU µs per connection'],
  cpu_us_per_msg: ['CPU µs per message'],
  cpu_us_per_op: ['CPU µs per command'],
  cpu_us_per_query: ['CPU µs per query'],
  cpu_us_per_req: ['CPU µs per request'],
  cpu_us_per_task: ['CPU µs per task'],
  delivered_share: ['delivered in time'],
  events_per_s: ['records/s'],
  files_per_s: ['files/s'],
  good_per_s: ['good answers/s'],
  heap_growth: ['heap at the end, times that at the start'],
  health_p99_ms: ['/health, p99, ms'],
  high_success: ['`high` requests in time'],
  items_per_s: ['inserts/s'],
  main_cpu_us_per_task: ['CPU µs of the main thread'],
  msgs_per_s: ['messages/s'],
  ns_per_event: ['ns per event'],
  ns_per_op: ['ns per task'],
  ops_per_s: ['commands/s'],
  p50_ms: ['p50, ms'],
  p50_ns: ['p50, ns'],
  p99_ms: ['p99, ms'],
  p99_us: ['p99, ms', 1e-3],
  queries_per_s: ['queries/s'],
  recovery_ms: ['ms'],
  score: ['cores, and the delay at its price'],
  reqs_per_s: ['requests/s'],
  rss_bytes: ['memory of each, KB', 1e-3],
  sends_per_s: ['sends/s'],
  stored_per_s: ['stored/s'],
  tasks_per_s: ['tasks/s'],
};

/** How a peer is called there, where its name does not say it. */
const peers = {
  blocked: 'on the main thread',
  bullmq: 'BullMQ',
  bun: 'Bun',
  capacity: 'all that it can do',
  default: 'Node.js as it is',
  direct: '`ws` alone',
  'end of turn': 'the end of the turn',
  'millrace direct': '`direct`',
  'mutex+uv_async': 'mutex, list, `uv_async_send`',
  none: 'without it',
  plain: 'a listener',
  'redis-adapter': 'its Redis adapter',
  'same node': 'the same machine',
  'submit + wait': 'submit and wait',
  'threadsafe-function': 'threadsafe function',
  tick: 'a loop on eventfd and epoll',
  unbatched: 'unbatched',
  unprotected: 'unprotected',
};
/** Names of functions and modules, rather than of packages. */
const isCode = /^(uv_|fs\.|node:|pool\.|ws$|dataloader$)/;
const named = (peer) => peers[peer] ?? (isCode.test(peer) ? `\`${peer}\`` : peer);

/**
 * @typedef {object} Row
 * @property {string} bench
 * @property {string} case
 * @property {string} metric
 * @property {string | null} peer null: a bound
 * @property {string} what the case, in words
 * @property {string} figure the metric, in words
 * @property {string} against the peer, in words
 * @property {number} scale
 * @property {string} [readme] what it is about, in the table of README.md
 */

/** @returns {Row[]} `cases`: by title what it is, and its figures: metric, peer, and what differs from the above */
const of = (bench, cases) =>
  Object.entries(cases).flatMap(([title, [what, ...figures]]) =>
    figures.map(([metric, peer, more]) => {
      const [figure, scale = 1] = metrics[metric];
      const against = peer === null ? 'a bound' : named(peer);
      return { bench, case: title, metric, peer, what, figure, against, scale, ...more };
    }),
  );

const cases = new Map((await loadAll()).map(({ name, benchmark }) => [name, benchmark.rows]));
const local = {
  'chat-slice': {
    '500x10 closed': [
      '500 clients, 10 rooms, as fast as answers come',
      ['msgs_per_s', 'direct'],
      ['cpu_us_per_msg', 'direct'],
    ],
    '500x10 2x saturation': ['twice what `ws` alone can take', ['delivered_share', 'direct']],
    '500x10 third': ['a third of it', ['p50_ms', 'direct'], ['p99_ms', 'direct']],
  },
  fanout: {
    '500x10 closed': [
      'the same 500 clients, with the addon, as fast as answers come',
      ['msgs_per_s', 'ws', { readme: '500 WebSockets in 10 rooms, as fast as answers come' }],
      ['msgs_per_s', 'bun'],
    ],
    '500x10 closed install': [
      'an application of `ws` as it is, with `install`',
      ['msgs_per_s', 'ws'],
    ],
    '500x10 143k': ['143,000 messages/s', ['cpu_us_per_msg', 'ws']],
    '500x10 450k hold': [
      '450,000 messages/s, `maxDelay: 5`',
      ['cpu_us_per_msg', 'bun'],
      ['p99_ms', 'bun'],
    ],
    '500x10 overload': ['offered 20 times what `ws` can do', ['msgs_per_s', 'bun']],
  },
  policy: {
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
  batch: {
    insert: [
      '100 durable inserts at once, SQLite',
      ['items_per_s', 'unbatched', { readme: '100 durable inserts at once into SQLite' }],
    ],
    'insert single': ['one at a time', ['items_per_s', 'unbatched']],
    'keys 1000': [
      '1,000 loads in a tick',
      ['items_per_s', 'dataloader', { figure: 'loads/s', readme: '1,000 loads by key in a tick' }],
    ],
  },
  files: {
    '4KB C=100 warm': [
      '100 files of 4 KB at once, in the page cache',
      ['files_per_s', 'fs.promises', { readme: '100 files of 4 KB at once, in the page cache' }],
    ],
    '4KB C=1 warm': ['one such file at a time', ['files_per_s', 'fs.promises']],
    '64KB C=100 warm': ['100 of 64 KB', ['files_per_s', 'fs.promises']],
    '1MB C=100 cold': ['100 of 1 MB, not in the cache', ['files_per_s', 'fs.promises']],
    'http 4KB': ['an HTTP server of 4 KB files', ['reqs_per_s', 'fs.promises']],
  },
  appends: {
    'durable C=100': [
      '100 callers, `durable`',
      [
        'appends_per_s',
        'appendFile',
        {
          against: '`appendFile`, `flush`',
          readme: '100 callers that append to one file, each until it is on the disk',
        },
      ],
      ['appends_per_s', 'held-fd', { against: 'one open file, `fdatasync` each' }],
    ],
    'durable C=1': [
      'one caller',
      ['appends_per_s', 'appendFile', { against: '`appendFile`, `flush`' }],
    ],
    'buffered C=100': [
      '100 callers, handed to the system only',
      ['appends_per_s', 'writestream', { against: 'a write stream' }],
    ],
  },
  guard: {
    '25ms closed 50': [
      '25 ms handlers, 50 clients that ask again at once',
      [
        'good_per_s',
        'under-pressure',
        { readme: 'overload: handlers of 25 ms, 50 clients that ask again at once' },
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
  pool: {
    'no-op deep': [
      'calls of a function that does nothing, 10,000 at once',
      ['tasks_per_s', 'piscina'],
      ['main_cpu_us_per_task', 'piscina'],
    ],
    '10us deep': [
      'of one of 10 µs',
      ['tasks_per_s', 'piscina', { readme: 'CPU tasks of 10 µs on two worker threads' }],
    ],
    '100us deep': ['of one of 100 µs', ['tasks_per_s', 'piscina']],
    '20ms deep': ['of one of 20 ms', ['tasks_per_s', 'piscina']],
    'no-op single': ['one call at a time', ['tasks_per_s', 'piscina']],
    '100us among 50ms': ['tasks of 100 µs among some of 50 ms', ['p99_us', 'piscina']],
    '1MB transferred': ['1 MB there and back, moved', ['tasks_per_s', 'piscina']],
    '/health during fib(1,000,000)': [
      '/health while a worker computes F(1,000,000)',
      ['health_p99_ms', 'blocked', { figure: 'p99, ms' }],
    ],
  },
  threads: {
    'batch 64': [
      'one thread that waits after each 64 records',
      ['events_per_s', 'threadsafe-function'],
    ],
    saturated: [
      'records that 4 threads post to JavaScript',
      ['events_per_s', 'threadsafe-function'],
    ],
  },
  scale: {
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
  c: {
    'post 4 producers': [
      'events that 4 threads post',
      ['ns_per_event', 'mutex+uv_async'],
      ['ns_per_event', 'uv_queue_work'],
    ],
    'push drain 1000': [
      '1,000 events pushed and handled, three classes',
      ['ns_per_event', 'sorted list', { against: 'a list, sorted at each flush' }],
    ],
    'fanout 500 x8': [
      'to 500 sockets, 8 messages of a turn',
      ['sends_per_s', 'uv_write', { readme: 'C: 8 messages of a turn to each of 500 sockets' }],
    ],
    'fanout 500': ['to 500 sockets, one message', ['sends_per_s', 'uv_write']],
    'large 128 clients': [
      '128 clients that download 5 MB, 4 times',
      ['bytes_per_s', 'default', { against: 'libuv as it is' }],
    ],
  },
  go: {
    PingPong: [
      'one producer of tasks, in Go',
      ['ns_per_op', 'goja_nodejs', { readme: 'Go: tasks of one producer on a loop' }],
    ],
    MultiProducer10: ['10 producers', ['ns_per_op', 'goja_nodejs']],
    PingPongLatency: ['submit and wait', ['p50_ns', 'goja_nodejs']],
    Do: ['`Do` on a loop that sleeps', ['ns_per_op', 'submit + wait', { figure: 'ns per call' }]],
    FDReady: ['a descriptor becomes ready', ['p50_ns', 'tick']],
    Stability: ['random load, in which no task is lost', ['heap_growth', null]],
    Queued1M: ['to run a million tasks that wait', ['ns_per_op', 'goja_nodejs']],
  },
  emitter: {
    direct: ['policy `direct`', ['ns_per_event', 'node:events']],
    adaptive: ['policy `adaptive`, delivery included', ['ns_per_event', 'millrace direct']],
    'late listener': [
      'events before their listener, which `node:events` drops',
      ['delivered_share', null, { figure: 'delivered' }],
    ],
  },
  'bulk-tcp': {
    '128 clients': [
      '128 clients download, `enlarge`',
      ['bytes_per_s', 'default'],
      ['bytes_per_s', 'onread', { against: '`onread`, 256 KB' }],
    ],
  },
  redis: {
    '50 per tick': [
      '50 commands in a tick, `coalesce`',
      ['ops_per_s', 'ioredis'],
      ['ops_per_s', 'ioredis pipelining', { against: 'its own pipelining' }],
    ],
    single: ['one command at a time', ['ops_per_s', 'ioredis']],
  },
  pg: {
    '100 over 2': [
      '100 callers that look up rows in PostgreSQL over 2 connections, `pipelined`',
      ['queries_per_s', 'pool.query'],
      ['cpu_us_per_query', 'pool.query'],
      ['queries_per_s', 'postgres.js', { against: 'postgres.js, which prepares' }],
    ],
    '100 over 2 named': [
      'the same with named statements, which `pg` prepares',
      ['queries_per_s', 'pool.query'],
      ['queries_per_s', 'postgres.js'],
      ['cpu_us_per_query', 'postgres.js'],
    ],
    '100 over 2 prepare': [
      'the same with `prepare`',
      ['queries_per_s', 'pool.query'],
      ['queries_per_s', 'postgres.js'],
    ],
    '100 over 10': [
      '100 callers over 10 connections',
      ['queries_per_s', 'pool.query'],
      ['queries_per_s', 'postgres.js', { against: 'postgres.js, which prepares' }],
    ],
    '2 over 2': [
      'as many callers as connections',
      ['queries_per_s', 'pool.query'],
      ['cpu_us_per_query', 'pool.query'],
    ],
  },
  accept: {
    'net 500 batched': [
      '500 clients connect at once; `batchConnections`',
      ['cpu_us_per_connection', 'plain'],
      ['p50_ms', 'plain'],
    ],
    'net 500 held 5': [
      '500 clients connect, `maxDelay: 5`',
      ['cpu_us_per_connection', 'plain'],
      ['p50_ms', 'plain'],
    ],
    'ws 500 batched': [
      '500 handshakes of `ws` at once; `batchConnections`',
      ['cpu_us_per_connection', 'plain'],
      ['p50_ms', 'plain'],
    ],
    'ws 500 held 5': [
      '500 handshakes of `ws`, `maxDelay: 5`',
      ['cpu_us_per_connection', 'plain'],
      ['p50_ms', 'plain'],
    ],
  },
  auto: {
    'hello auto': ['hello world under `millrace/auto`', ['cpu_us_per_req', 'none']],
    'users auto': ['a row of PostgreSQL by `node:http`', ['cpu_us_per_req', 'none']],
    'frames auto': ['`ws`, a frame of its own to each client', ['cpu_us_per_req', 'none']],
    'graphql auto': ['the same as subscriptions of GraphQL', ['cpu_us_per_req', 'none']],
    'hello observe': ['hello world under `observe`', ['cpu_us_per_req', 'none']],
  },
  footprint: {
    '10k connections': ['10,000 WebSockets in rooms', ['rss_bytes', 'ws']],
    '10k connections install': ['the same, with `install`', ['rss_bytes', 'ws']],
  },
};

/** @type {Row[]} */
export const rows = Object.keys(local).flatMap((name) => of(name, cases.get(name) ?? local[name]));
