/** 500 clients in 10 rooms: `Rooms` against a server that sends each message by itself. */
import { noteGenerator, refuseFaults, refuseUnbatched, shareDelivered } from '../lib/checks.js';
import { pinned } from '../lib/cores.js';
import { armsOf } from '../lib/experiment.js';
import { measure, program } from '../lib/load.js';

const crowd = { protocol: 'raw', connections: 500, rooms: 10, payload: 100 };
const programs = { adaptive: program('rooms.js'), direct: program('ws.js') };
/** Backend of the adaptive server: the portable way of writing, in every round the same. */
const backend = 'send';
const env = { MILLRACE_FANOUT: backend };
const usual = ['msgs_per_s', 'cpu_us_per_msg', 'p50_ms', 'p99_ms'];

export default {
  question: 'Messages to rooms of WebSockets, batched and not',
  place: 10,
  rows: {
    '500x10 closed': [
      '500 clients, 10 rooms, as fast as answers come',
      ['msgs_per_s', 'direct'],
      ['cpu_us_per_msg', 'direct'],
    ],
    '500x10 2x saturation': ['twice what `ws` alone can take', ['delivered_share', 'direct']],
    '500x10 third': ['a third of it', ['p50_ms', 'direct'], ['p99_ms', 'direct']],
  },
  async *experiments(bench) {
    const { quick } = bench;
    const { prefix, note } = pinned();
    bench.note(note);
    const timing = { warmup: 1, seconds: quick ? 2 : 8, drain: 60 };
    const arms = (name, load, mayFail = []) =>
      armsOf(['adaptive', 'direct'], (policy) => async () => {
        const command = [...prefix, process.execPath, programs[policy]];
        const sample = await measure({ command, env }, { ...crowd, ...timing, ...load });
        if (!mayFail.includes(policy)) refuseFaults(name, policy, sample.report);
        if (policy === 'adaptive' && load.mode === 'closed')
          refuseUnbatched(name, policy, sample.stats);
        return { ...sample, delivered_share: shareDelivered(sample.report, load) };
      });

    const closed = yield {
      name: '500x10 closed',
      arms: arms('500x10 closed', { mode: 'closed' }),
      rounds: quick ? 6 : 15,
      metrics: usual,
      // At least three times the messages, at most 0.4 of the CPU for each.
      peers: { direct: { msgs_per_s: 3, cpu_us_per_msg: 1 / 0.4 } },
      ...{ backend, notes: (rounds) => noteGenerator('500x10 closed', rounds) },
    };
    // The others are multiples of what it found.
    if (closed === undefined) return;
    // The best round: other work on the machine can only lower it.
    const saturation = Math.max(...closed.map(({ direct }) => direct.msgs_per_s));
    bench.note(
      `saturation of direct, from the closed case: ${Math.round(saturation)} deliveries/s`,
    );

    const twice = { mode: 'open', deliveriesRate: saturation * 2 };
    yield {
      name: '500x10 2x saturation',
      // Beyond its capacity it may lose: that is what is shown.
      arms: arms('500x10 2x saturation', twice, ['direct']),
      ...{ rounds: quick ? 6 : 9, warmup: 0 },
      metrics: ['msgs_per_s', 'delivered_share', 'cpu_us_per_msg', 'p50_ms', 'p99_ms'],
      peers: { direct: undefined },
      ...{ backend, notes: (rounds) => noteGenerator('500x10 2x saturation', rounds) },
    };

    const third = { mode: 'open', deliveriesRate: saturation / 3 };
    yield {
      name: '500x10 third',
      arms: arms('500x10 third', third),
      ...{ rounds: quick ? 8 : 15, warmup: 0 },
      metrics: usual,
      // No worse: the interval's lower end is at 0.95 or above.
      peers: { direct: { p50_ms: 0.95 } },
      ...{ backend, notes: (rounds) => noteGenerator('500x10 third', rounds) },
    };
  },
};
