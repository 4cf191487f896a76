/**
 * Messages to rooms of WebSockets and to event streams, by each way in which millrace writes. Rates are deliveries per second; targets are
 * the least that `ahead` has to be, where the backends differ by backend.
 */
import { noteGenerator, refuseBackend, refuseFaults, refuseUnbatched } from '../lib/checks.js';
import { pinned } from '../lib/cores.js';
import { measure, metrics } from '../lib/load.js';

const noWorse = 0.95;
/** Targets of a case that is to be no worse in any metric. */
const nothingWorse = Object.fromEntries(metrics.map((metric) => [metric, noWorse]));
const of10Rooms = { connections: 500, rooms: 10 };
const open = (deliveriesRate) => ({ mode: 'open', deliveriesRate });

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {object} crowd
 * @property {object} [load] options of the generator
 * @property {number} [overload] in place of `load`: how many times what ws delivered in the closed case
 * @property {number} [maxDelay] of millrace, ms
 * @property {'everybody' | string[]} [behind] arms that cannot keep up: late messages do not count, and their
 *   latency is not reported
 * @property {false} [quick] only in a full run
 * @property {boolean} [quickRing] whether a quick run has the figures of `Rooms` with io_uring as well
 * @property {Record<string, object>} rooms targets of `Rooms` by peer; a peer that is named here is in a quick run
 * @property {Record<string, object>} install targets of `install`
 * @property {import('../lib/experiment.js').Bound[]} [bounds] of `Rooms`
 */

/** @type {Case[]} */
const cases = [
  {
    name: '500x10 closed',
    crowd: of10Rooms,
    load: { mode: 'closed' },
    quickRing: true,
    rooms: {
      ws: { msgs_per_s: 4.5 },
      bun: { msgs_per_s: { send: noWorse, io_uring: 1.1 } },
      uWebSockets: {},
    },
    install: { ws: { ...nothingWorse, msgs_per_s: 3.5 } },
  },
  {
    name: '500x10 62k',
    crowd: of10Rooms,
    load: open(62_000),
    quick: false,
    rooms: {},
    install: { ws: nothingWorse },
  },
  {
    name: '500x10 143k',
    crowd: of10Rooms,
    load: open(143_000),
    rooms: { ws: { cpu_us_per_msg: 1.25 } },
    install: { ws: nothingWorse },
  },
  {
    name: '500x10 450k hold',
    crowd: of10Rooms,
    load: open(450_000),
    maxDelay: 5,
    behind: ['ws', 'socket.io'],
    rooms: { bun: { cpu_us_per_msg: 1.4 } },
    // More than ws can take: that is shown below.
    install: {},
    bounds: [['p99_ms', 15]],
  },
  {
    name: '500x10 overload',
    crowd: of10Rooms,
    overload: 20,
    behind: 'everybody',
    rooms: { bun: { msgs_per_s: 2 } },
    install: { ws: nothingWorse },
  },
  {
    name: '2000x20 60k hold',
    crowd: { connections: 2000, rooms: 20 },
    load: open(60_000),
    quick: false,
    maxDelay: 5,
    rooms: { 'no hold': { p50_ms: noWorse } },
    install: { ws: nothingWorse },
  },
];

/**
 * Server-sent events: 500 readers of one room, 50 messages of 100 bytes under way at any time. What can be delivered a second is up to the
 * generator, so it only has to be no worse.
 */
const streams = {
  name: '500 readers sse closed',
  targets: { msgs_per_s: noWorse, cpu_us_per_msg: 3 },
};

export default {
  question:
    'Messages to rooms of WebSockets, against the servers that people use, and to event streams',
  needs: ['socketify'],
  place: 20,
  rows: {
    '500x10 closed': [
      'the same 500 clients, with the addon, as fast as answers come',
      [
        'msgs_per_s',
        'ws',
        { readme: '500 WebSockets in 10 rooms, as fast as answers come', beside: '500x10 143k' },
      ],
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
  async *experiments(bench) {
    const { quick } = bench;
    const servers = await import('../programs/fanout/servers.js');
    const { backends, streamArms } = servers;
    const { prefix, note } = pinned();
    bench.note(note);
    bench.note(`millrace by ${backends.join(' and ')}; ${servers.versions()}`);
    if (!servers.peers.uWebSockets)
      bench.note('without uWebSockets: Python 3 has no socketify, which `make bench` installs');
    const timing = quick ? { warmup: 0.3, seconds: 1.1 } : { warmup: 1, seconds: 4 };
    const size = quick ? { rounds: 6, warmup: 0 } : { rounds: 9, warmup: 1 };
    let saturation;

    for (const which of cases.filter((each) => bench.isListed(each))) {
      const { name, load, overload, behind = [] } = which;
      if (overload !== undefined && saturation === undefined) continue;
      const offered = load ?? open(saturation * overload);
      const { arms, comparisons } = compared(which, quick, servers);
      const once = async (arm, { command, env, backend, protocol = 'raw', question }) => {
        const late = isBehind(behind, arm);
        const sample = await measure(
          { command: [...prefix, ...command], env },
          {
            ...{ payload: 100, protocol, drain: late ? 0.2 : 30 },
            ...{ ...timing, ...which.crowd, ...offered },
          },
          late ? null : question,
        );
        refuseFaults(name, arm, sample.report, late);
        if (backend && !late) refuseBackend(name, arm, sample.stats, backend);
        if (backend && offered.mode === 'closed') refuseUnbatched(name, arm, sample.stats);
        return sample;
      };
      const rounds = yield {
        ...{ name, ...size, comparisons },
        arms: Object.fromEntries(
          Object.entries(arms).map(([arm, server]) => [arm, () => once(arm, server)]),
        ),
        notes: (all) => noteGenerator(name, all),
      };
      if (offered.mode === 'closed' && rounds !== undefined) {
        // The best round: other work on the machine can only lower it.
        saturation = Math.max(...rounds.map(({ ws }) => ws.msgs_per_s));
        bench.note(
          `saturation of ws, from the closed case: ${Math.round(saturation)} deliveries/s`,
        );
      }
    }

    const { measureStreams } = await import('../programs/fanout/streams.js');
    const arms = streamArms(quick);
    const once = async (arm, { command, env, backend }) => {
      const sample = await measureStreams({ command: [...prefix, ...command], env }, timing);
      if (backend) refuseBackend(streams.name, arm, sample.stats, backend);
      if (backend) refuseUnbatched(streams.name, arm, sample.stats);
      return sample;
    };
    yield {
      ...{ name: streams.name, ...size },
      arms: Object.fromEntries(
        Object.entries(arms).map(([arm, server]) => [arm, () => once(arm, server)]),
      ),
      metrics: Object.keys(streams.targets),
      peers: { 'res.write': streams.targets },
      comparisons: Object.entries(arms)
        .filter(([, { backend }]) => backend)
        .map(([ours, { backend }]) => ({ ours, backend })),
    };
  },
};

/** Reports whether an arm is behind: its latency is then unknown. */
const isBehind = (behind, arm) => behind === 'everybody' || behind.includes(arm);

/**
 * Servers of a case by arm, and their comparisons. A quick run has the arms with a target, and mostly only the portable backend, whose
 * figures come first.
 *
 * @param {Case} which
 */
function compared(which, quick, { backends, install, peers, rooms }) {
  const { name, bounds, maxDelay, behind = [] } = which;
  const arms = {};
  const comparisons = [];
  for (const [kind, start] of Object.entries({ rooms, install })) {
    const named = Object.keys(which[kind]);
    const wanted = (quick ? named : [...new Set([...Object.keys(peers), ...named])]).filter(
      (peer) => peer in peers || peer === 'no hold',
    );
    const isShort = quick && !(which.quickRing && kind === 'rooms');
    for (const backend of isShort ? backends.slice(0, 1) : backends) {
      const ours = `${kind} ${backend}`;
      const title = kind === 'install' ? `${name} install` : name;
      if (wanted.length > 0 || (bounds && kind === 'rooms')) arms[ours] = start(backend, maxDelay);
      for (const peer of wanted) {
        const theirs = peer === 'no hold' ? `${peer} ${backend}` : peer;
        arms[theirs] = peers[peer] ?? rooms(backend);
        comparisons.push({
          ...{ case: title, ours, backend, theirs: { [peer]: theirs } },
          metrics: metrics.filter((metric) => !metric.endsWith('_ms') || !isBehind(behind, peer)),
          peers: { [peer]: of(which[kind][peer], backend) },
        });
      }
      if (bounds && kind === 'rooms') comparisons.push({ case: title, ours, backend, bounds });
    }
  }
  return { arms, comparisons };
}

/** Targets of one backend. */
const of = (targets = {}, backend) =>
  Object.fromEntries(
    Object.entries(targets).map(([metric, target]) => [
      metric,
      typeof target === 'object' ? (target[backend] ?? target.send) : target,
    ]),
  );
