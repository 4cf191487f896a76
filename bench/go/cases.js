/**
 * Targets of Millrace in each case. `quick` are the arms of a quick run; a full one has all that the program lists.
 * A figure is the comparison of two arms: `subject` (else `millrace`) and each of the others.
 */
const rate = ['ns_per_op', 'bytes_per_op', 'allocs_per_op', 'p999_ns'];
const wait = ['ns_per_op', 'p50_ns', 'p95_ns', 'p99_ns', 'p999_ns'];
const tails = ['p50_ns', 'p99_ns', 'p999_ns'];

const noWorse = 0.95;
/** Ahead of the report's quickest design by a twentieth, wherever it is about throughput. */
const batched = { ns_per_op: 1.05 };
const usual = ['millrace', 'goja_nodejs', 'batched'];
/** Designs of the report. */
const designs = [...usual, 'tick', 'safe', 'lockfree'];
/** Number of rounds by which each of 23 claims can be told from chance: the least p of fewer, corrected for all of them, is above 0.05. */
const ofClaims = 11;
const against = (ahead) => ({ goja_nodejs: { ns_per_op: ahead }, batched });

/**
 * @type {{ name: string, metrics: string[], quick: string[], rounds: number, subject?: string,
 *   targets?: Record<string, Record<string, number>>, alone?: true }[]} `alone`: takes minutes, and is run by its name only, in these rounds
 */
export const cases = [
  {
    name: 'PingPong',
    metrics: rate,
    quick: [...designs, 'goja_nodejs native'],
    rounds: ofClaims,
    targets: against(2.3),
  },
  { name: 'PingPong reused', metrics: ['ns_per_op', 'bytes_per_op'], quick: [], rounds: 0 },
  {
    name: 'PingPongLatency',
    metrics: wait,
    quick: [...designs, 'channel round trip'],
    rounds: ofClaims,
    targets: {
      goja_nodejs: { ns_per_op: 1.25 },
      'channel round trip': { ns_per_op: 1 / 1.25 },
    },
  },
  {
    name: 'PingPongLatency reused',
    metrics: wait,
    quick: ['millrace', 'channel round trip'],
    rounds: 6,
    targets: { 'channel round trip': { ns_per_op: 1 / 1.25 } },
  },
  {
    name: 'MultiProducer10',
    metrics: rate,
    quick: designs,
    rounds: ofClaims,
    targets: against(1.6),
  },
  { name: 'MultiProducer100', metrics: rate, quick: usual, rounds: 6, targets: against(1.6) },
  {
    name: 'BurstSubmit',
    metrics: rate,
    quick: [...designs, 'goja_nodejs native', 'millrace SubmitBatch'],
    rounds: ofClaims,
    targets: against(2.2),
  },
  {
    name: 'GCPressure',
    metrics: rate,
    quick: designs,
    rounds: ofClaims,
    targets: against(noWorse),
  },
  {
    name: 'Allocation',
    metrics: ['ns_per_op', 'bytes_per_op', 'allocs_per_op'],
    quick: [...designs, 'closure alone'],
    rounds: 6,
    targets: { 'closure alone': { bytes_per_op: noWorse, allocs_per_op: noWorse } },
  },
  {
    name: 'Do',
    metrics: wait,
    quick: ['Do', 'submit + wait'],
    rounds: 6,
    subject: 'Do',
    targets: { 'submit + wait': { ns_per_op: 15 } },
  },
  { name: 'Do fresh', metrics: wait, quick: [], rounds: 0, subject: 'Do' },
  {
    name: 'Mixed',
    metrics: ['ns_per_op', ...tails],
    quick: ['millrace', 'goja_nodejs', 'millrace SubmitPriority'],
    rounds: 6,
  },
  {
    name: 'Bursty',
    metrics: ['cpu_ns_per_op', ...tails],
    quick: usual,
    rounds: 6,
  },
  {
    name: 'FDReady',
    metrics: wait,
    quick: ['millrace', 'tick', 'goja_nodejs'],
    rounds: 6,
    targets: { tick: { ns_per_op: 4 } },
  },
  { name: 'FDReady by the loop', metrics: ['ns_per_op'], quick: [], rounds: 0 },
  {
    name: 'FDIdle',
    metrics: wait,
    quick: ['millrace', 'no descriptor'],
    rounds: 6,
    targets: { 'no descriptor': { ns_per_op: noWorse } },
  },
  { name: 'Microtasks', metrics: ['ns_per_op', 'bytes_per_op'], quick: designs, rounds: 6 },
  { name: 'Promises', metrics: ['ns_per_op', 'bytes_per_op'], quick: designs, rounds: 6 },
  {
    name: 'Timers',
    metrics: ['ns_per_op', ...tails],
    quick: ['millrace', 'millrace precise', 'goja_nodejs', 'tick', 'time.AfterFunc'],
    rounds: 6,
  },
  {
    name: 'Queued100k',
    metrics: ['ns_per_op', 'bytes_per_op'],
    quick: [],
    rounds: 0,
  },
  {
    name: 'Queued1M',
    metrics: ['ns_per_op', 'bytes_per_op'],
    quick: usual,
    rounds: 6,
  },
  {
    name: 'HundredMillion',
    metrics: ['ns_per_op', 'bytes_per_op', 'allocs_per_op'],
    quick: [],
    rounds: 6,
    alone: true,
  },
];

/**
 * A loop under random load, in processes of so many rounds: what was accepted has run in each, or the run is refused.
 * `seconds` are those of all rounds together.
 */
export const stability = {
  name: 'Stability',
  rounds: 6,
  seconds: 30,
  /** The heap at the end of a round is at most this many times what it was after the first tenth. */
  growth: 2,
  mostNs: 1e9,
};

/** The peers of which every metric becomes a figure; of the others, in a full run, the first one and the last. */
export const chief = new Set([
  ...usual,
  'millrace SubmitPriority',
  'millrace precise',
  'tick',
  'safe',
  'lockfree',
  'channel round trip',
  'closure alone',
  'submit + wait',
  'no descriptor',
  'time.AfterFunc',
]);
