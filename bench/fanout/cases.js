/**
 * What is measured, and the least that `ahead` has to be: by the peer that millrace is compared with and by metric; where the backends
 * differ, by backend too. Rates are deliveries per second.
 */

const noWorse = 0.95;
/** In whatever is measured. */
const nothingWorse = {
  msgs_per_s: noWorse,
  cpu_us_per_msg: noWorse,
  p50_ms: noWorse,
  p99_ms: noWorse,
};
const of10Rooms = { connections: 500, rooms: 10 };
const open = (deliveriesRate) => ({ mode: 'open', deliveriesRate });

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {object} crowd
 * @property {object} [load] options of the generator
 * @property {number} [overload] in place of `load`: how many times what ws delivered in the closed case
 * @property {number} [maxDelay] of millrace, ms
 * @property {'everybody' | string[]} [behind] who cannot keep up: what is not delivered in time does not count, and of how late
 *   it would have been nothing is said
 * @property {false} [quick] only in a full run
 * @property {string} [beside] of a closed loop: the case of a load that leaves time, without which no short table shows it
 * @property {boolean} [quickRing] whether a quick run has the figures of `Rooms` with io_uring as well
 * @property {Record<string, object>} rooms targets of `Rooms` by peer; a peer that is named here is in a quick run
 * @property {Record<string, object>} install targets of `install`
 * @property {Record<string, number>} [bounds] of `Rooms`, by metric
 */

/** @type {Case[]} */
export const cases = [
  {
    name: '500x10 closed',
    crowd: of10Rooms,
    load: { mode: 'closed' },
    beside: '500x10 143k',
    quickRing: true,
    rooms: { ws: { msgs_per_s: 4.5 }, bun: { msgs_per_s: { send: noWorse, io_uring: 1.1 } } },
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
    bounds: { p99_ms: 15 },
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

/** Server-sent events. What can be delivered a second is up to the generator, so it only has to be no worse: 500 readers of one room, 50 messages of 100 bytes under way at any time. */
export const streams = {
  name: '500 readers sse closed',
  peer: 'res.write',
  targets: { msgs_per_s: noWorse, cpu_us_per_msg: 3 },
};
