/** Costs of libuvbatch, and what it saves, against the usual ways to do the same with libuv. */
import { armsOf } from '../lib/experiment.js';
import { timesBetter } from '../lib/statistics.js';
import { arm, download } from '../programs/c/arm.js';

const noWorse = 0.95;
const far = 2;
const backend = 'c';
const lengths = [10, 1000, 100_000];
const ofAccepts = [
  'cpu_us_per_connection',
  'handlers_per_connection',
  'turns_per_connection',
  'syscalls_per_connection',
  'p50_us',
  'p99_us',
];

const producersOf = (count) => `${count} producer${count > 1 ? 's' : ''}`;
const none = undefined;

export default {
  question: 'What libuvbatch costs and saves',
  needs: ['c', 'streaming'],
  place: 110,
  rows: {
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
      [
        'sends_per_s',
        'uv_write',
        { readme: 'C: 8 messages of a turn to each of 500 sockets', beside: 'fanout 500' },
      ],
    ],
    'fanout 500': ['to 500 sockets, one message', ['sends_per_s', 'uv_write']],
    'large 128 clients': [
      '128 clients that download 5 MB, 4 times',
      ['bytes_per_s', 'default', { against: 'libuv as it is' }],
    ],
  },
  *experiments({ quick }) {
    const more = { rounds: quick ? 21 : 41 };
    const fewer = { rounds: quick ? 7 : 21 };
    const fewest = { rounds: quick ? 6 : 15, warmup: 0 };
    yield* posts(more);
    yield {
      ...{ name: 'idle wake', backend, ...more },
      arms: armsOf(['post', 'mutex+uv_async'], (way) => () => arm('idle_wake', way, 300)),
      metrics: ['ns_per_event'],
      peers: { 'mutex+uv_async': noWorse },
    };
    yield drain({ rounds: quick ? 9 : 31 });
    for (const sockets of [50, 500, 2000]) {
      for (const messages of [1, 8]) yield fanout(sockets, messages, fewer);
    }
    yield accept(3, 1000, { 'accept 3': 'uv_batch_listen', 'accept 3 fixed': 'fixed' }, fewer);
    yield accept(2000, 5, { 'accept storm 2000': 'uv_batch_listen' }, fewer);
    // By what the read callback does: see examples/streaming/README.md.
    for (const [work, size, targets] of [
      ['dispatch', fewer, { bytes_per_s: 1.25, cpu_s: 1.3, loop_p99_ms: noWorse }],
      ['chunk', fewest],
      ['empty', fewest],
    ]) {
      yield {
        name: work === 'dispatch' ? 'large 128 clients' : `large 128 clients, ${work}`,
        ...{ backend, ...size },
        arms: armsOf(['large', 'default'], (way) => () => download(way, work)),
        metrics: ['bytes_per_s', 'cpu_s', 'loop_p99_ms'],
        peers: { default: targets },
      };
    }
  },
};

function* posts(size) {
  const targets = { 4: { 'mutex+uv_async': 1.7, uv_queue_work: 8 } };
  for (const producers of [1, 4]) {
    yield {
      ...{ name: `post ${producersOf(producers)}`, backend, ...size },
      arms: {
        post: () => arm('post', 'post', producers, 1_000_000),
        'mutex+uv_async': () => arm('post', 'mutex+uv_async', producers, 1_000_000),
        uv_queue_work: () => arm('post', 'uv_queue_work', producers, 100_000),
      },
      comparisons: [
        {
          metrics: ['ns_per_event'],
          peers: { 'mutex+uv_async': none, uv_queue_work: none, ...targets[producers] },
        },
        { metrics: ['wakes_per_event'], peers: { 'mutex+uv_async': none } },
      ],
    };
  }
  for (const producers of [1, 4]) {
    yield {
      ...{ name: `count ${producersOf(producers)}`, backend, ...size },
      arms: armsOf(
        ['post', 'mutex+uv_async'],
        (way) => () => arm('count', way, producers, 400_000),
      ),
      metrics: ['cpu_ns_per_event'],
      peers: { 'mutex+uv_async': none },
    };
  }
}

/** Measures all lengths of the queue in the same rounds, so that they can be compared too. */
function drain(size) {
  const costs = (rounds, queued) => rounds.map((round) => round[`push ${queued}`].ns_per_event);
  return {
    ...{ name: 'push drain', backend, ...size },
    arms: Object.fromEntries(
      lengths.flatMap((queued) => [
        [`push ${queued}`, () => arm('push_drain', 'push', queued, 1_000_000 / queued)],
        [`list ${queued}`, () => arm('push_drain', 'sorted list', queued, 200_000 / queued)],
      ]),
    ),
    metrics: ['ns_per_event'],
    peers: { 'sorted list': far },
    comparisons: lengths.map((queued) => ({
      ...{ case: `push drain ${queued}`, ours: `push ${queued}` },
      theirs: { 'sorted list': `list ${queued}` },
    })),
    notes(rounds) {
      const { ahead, lo, hi } = timesBetter('higher', costs(rounds, 100_000), costs(rounds, 10));
      const [times, from, to] = [ahead, lo, hi].map((each) => each.toFixed(2));
      return [
        ...lengths.map((queued) => {
          const all = rounds.map((round) => round[`push ${queued}`].allocations_per_event);
          return `push drain ${queued}: ${Math.max(...all)} allocations an event, against 1`;
        }),
        `push drain: an event costs ${times} times as much with 100,000 queued as with 10 (${from} to ${to})`,
      ];
    },
  };
}

function fanout(sockets, messages, size) {
  const times = Math.ceil(60_000 / sockets / messages);
  return {
    ...{ name: `fanout ${sockets}${messages > 1 ? ` x${messages}` : ''}`, ...size },
    arms: armsOf(
      ['fanout', 'uv_write', 'uv_try_write'],
      (way) => () => arm('fanout', way, sockets, messages, times),
    ),
    metrics: ['sends_per_s', 'cpu_ns_per_send'],
    peers: { uv_write: none, uv_try_write: none },
    comparisons: (rounds) => [
      { backend: [...new Set(rounds.map((round) => round.fanout.backend))].join(' or ') },
    ],
  };
}

/** @param {Record<string, string>} arms of ours, by case; the first case names the experiment */
function accept(connections, times, arms, size) {
  const [name] = Object.keys(arms);
  return {
    ...{ name, backend, ...size },
    arms: armsOf(
      ['uv_listen', ...Object.values(arms)],
      (way) => () => arm('accept', way, connections, times),
    ),
    peers: { uv_listen: none },
    comparisons(rounds) {
      // The kernel does not tell every user.
      const isTold = (metric) => rounds.every(({ uv_listen }) => uv_listen[metric] !== null);
      const metrics = ofAccepts.filter(isTold);
      return Object.entries(arms).map(([title, ours]) => ({ case: title, ours, metrics }));
    },
    // Since 1.45 libuv accepts one connection a turn by itself.
    notes: ([{ uv_listen }]) => [`${name}: libuv ${uv_listen.libuv}`],
  };
}
