/** What libuvbatch costs and saves: `make bench NAME=c`. */
import { runBench } from '../lib/bench.js';
import { timesBetter } from '../lib/statistics.js';
import { arm, download } from './arm.js';

const cost = { metric: 'ns_per_event', unit: 'ns', better: 'lower' };
const eventCpu = { metric: 'cpu_ns_per_event', unit: 'ns', better: 'lower' };
const wakes = { metric: 'wakes_per_event', unit: '1', better: 'lower' };
const sends = { metric: 'sends_per_s', unit: '1/s', better: 'higher' };
const sendCpu = { metric: 'cpu_ns_per_send', unit: 'ns', better: 'lower' };
const bytes = { metric: 'bytes_per_s', unit: 'B/s', better: 'higher' };
const cpu = { metric: 'cpu_s', unit: 's/GB', better: 'lower' };
const accepts = [
  ['cpu_us_per_connection', 'us'],
  ['handlers_per_connection', '1'],
  ['turns_per_connection', '1'],
  ['syscalls_per_connection', '1'],
  ['p50_us', 'us'],
  ['p99_us', 'us'],
].map(([metric, unit]) => ({ metric, unit, better: 'lower' }));
const delay = { metric: 'loop_p99_ms', unit: 'ms', better: 'lower' };

const noWorse = 0.95;
const far = 2;

await runBench('c', async (bench) => {
  const size = { rounds: bench.quick ? 9 : 31, warmup: 1 };
  const more = { rounds: bench.quick ? 21 : 41, warmup: 1 };
  const fewer = { rounds: bench.quick ? 7 : 21, warmup: 1 };
  const fewest = { rounds: bench.quick ? 6 : 15, warmup: 0 };

  /** Runs arms in paired rounds; gives a function from arm and metric to the rounds' values. */
  async function measure(title, arms, plan = size) {
    const rounds = await bench.rounds(title, arms, plan);
    return (name, metric) => rounds.map((round) => round[name][metric]);
  }

  function add(title, what, values, ours, peer, target) {
    const named = { backend: 'c', case: title, peer, ...what };
    bench.add(named, values(ours, what.metric), values(peer, what.metric), target);
  }

  for (const [producers, targets] of [
    [1, {}],
    [4, { 'mutex+uv_async': 1.7, uv_queue_work: 8 }],
  ]) {
    const title = `post ${producers} producer${producers > 1 ? 's' : ''}`;
    const values = await measure(
      title,
      {
        post: () => arm('post', 'post', producers, 1_000_000),
        'mutex+uv_async': () => arm('post', 'mutex+uv_async', producers, 1_000_000),
        uv_queue_work: () => arm('post', 'uv_queue_work', producers, 100_000),
      },
      more,
    );
    for (const peer of ['mutex+uv_async', 'uv_queue_work']) {
      add(title, cost, values, 'post', peer, targets[peer]);
    }
    add(title, wakes, values, 'post', 'mutex+uv_async');
  }

  for (const producers of [1, 4]) {
    const title = `count ${producers} producer${producers > 1 ? 's' : ''}`;
    const values = await measure(
      title,
      {
        post: () => arm('count', 'post', producers, 400_000),
        'mutex+uv_async': () => arm('count', 'mutex+uv_async', producers, 400_000),
      },
      more,
    );
    add(title, eventCpu, values, 'post', 'mutex+uv_async');
  }

  const idle = await measure(
    'idle wake',
    {
      post: () => arm('idle_wake', 'post', 300),
      'mutex+uv_async': () => arm('idle_wake', 'mutex+uv_async', 300),
    },
    more,
  );
  add('idle wake', cost, idle, 'post', 'mutex+uv_async', noWorse);

  // In the same rounds, so that lengths of the queue can be compared too.
  const lengths = [10, 1000, 100_000];
  const drained = await measure(
    'push drain',
    Object.fromEntries(
      lengths.flatMap((queued) => [
        [`push ${queued}`, () => arm('push_drain', 'push', queued, 1_000_000 / queued)],
        [`list ${queued}`, () => arm('push_drain', 'sorted list', queued, 200_000 / queued)],
      ]),
    ),
  );
  for (const queued of lengths) {
    const title = `push drain ${queued}`;
    const [ours, theirs] = [`push ${queued}`, `list ${queued}`].map((name) =>
      drained(name, cost.metric),
    );
    bench.add({ backend: 'c', case: title, peer: 'sorted list', ...cost }, ours, theirs, far);
    const allocations = Math.max(...drained(`push ${queued}`, 'allocations_per_event'));
    bench.note(`${title}: ${allocations} allocations an event, against 1`);
  }
  const [few, many] = [10, 100_000].map((queued) => drained(`push ${queued}`, cost.metric));
  const dearer = timesBetter('higher', many, few);
  const [times, lo, hi] = [dearer.ahead, dearer.lo, dearer.hi].map((each) => each.toFixed(2));
  bench.note(
    `push drain: an event costs ${times} times as much with 100,000 queued as with 10 (${lo} to ${hi})`,
  );

  for (const sockets of [50, 500, 2000]) {
    for (const messages of [1, 8]) {
      const title = `fanout ${sockets}${messages > 1 ? ` x${messages}` : ''}`;
      const rounds = Math.ceil(60_000 / sockets / messages);
      const names = ['fanout', 'uv_write', 'uv_try_write'];
      const values = await measure(
        title,
        Object.fromEntries(
          names.map((name) => [name, () => arm('fanout', name, sockets, messages, rounds)]),
        ),
        fewer,
      );
      const backends = [...new Set(values('fanout', 'backend'))].join(' or ');
      for (const peer of ['uv_write', 'uv_try_write']) {
        add(title, { ...sends, backend: backends }, values, 'fanout', peer);
        add(title, { ...sendCpu, backend: backends }, values, 'fanout', peer);
      }
    }
  }

  for (const [connections, times, arms] of [
    [3, 1000, { 'accept 3': 'uv_batch_listen', 'accept 3 fixed': 'fixed' }],
    [2000, 5, { 'accept storm 2000': 'uv_batch_listen' }],
  ]) {
    const names = ['uv_listen', ...Object.values(arms)];
    const values = await measure(
      Object.keys(arms)[0],
      Object.fromEntries(
        names.map((name) => [name, () => arm('accept', name, connections, times)]),
      ),
      fewer,
    );
    // The kernel does not tell every user.
    const isTold = ({ metric }) => values('uv_listen', metric).every((value) => value !== null);
    for (const [title, ours] of Object.entries(arms)) {
      for (const what of accepts.filter(isTold)) add(title, what, values, ours, 'uv_listen');
    }
    // Since 1.45 libuv accepts one connection a turn by itself.
    bench.note(`${Object.keys(arms)[0]}: libuv ${values('uv_listen', 'libuv')[0]}`);
  }

  // By what the read callback does: see examples/streaming/README.md.
  for (const [work, targets, plan] of [
    ['dispatch', [1.25, 1.3, noWorse], fewer],
    ['chunk', [], fewest],
    ['empty', [], fewest],
  ]) {
    const title = work === 'dispatch' ? 'large 128 clients' : `large 128 clients, ${work}`;
    const values = await measure(
      title,
      { large: () => download('large', work), default: () => download('default', work) },
      plan,
    );
    for (const [i, what] of [bytes, cpu, delay].entries()) {
      add(title, what, values, 'large', 'default', targets[i]);
    }
  }
});
