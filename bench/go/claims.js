/**
 * Claims of the report about its designs, and of a loop to be, in the words of the list of claims. A claim has places: in a
 * case, `of` is so many times better than `than`, an arm or a bound. With `isDenied` a claim is refuted where they hold.
 */
const time = 'ns_per_op';
const throughput = ['PingPong', 'MultiProducer10', 'BurstSubmit', 'GCPressure'];
const fewer = (percent) => 1 / (1 - percent / 100);
const at = (cases, of, than, claimed, metric = time, least = claimed) =>
  [cases].flat().map((name) => ({ case: name, of, than, claimed, metric, least }));

const listed = [
  [
    'AlternateThree ahead of the baseline, one producer',
    at('PingPong', 'batched', 'goja_nodejs', 1.08),
  ],
  [
    'Main behind the baseline, one producer, by 36 %',
    at('PingPong', 'goja_nodejs', 'tick', fewer(36)),
  ],
  [
    'The baseline answers 21 times faster than all others',
    ['batched', 'lockfree', 'safe', 'tick'].flatMap((other) =>
      at('PingPongLatency', 'goja_nodejs', other, 21),
    ),
  ],
  [
    'AlternateThree ahead of the baseline, ten producers',
    at('MultiProducer10', 'batched', 'goja_nodejs', 1.35),
  ],
  [
    'Main behind the baseline, ten producers, by 7 %',
    at('MultiProducer10', 'goja_nodejs', 'tick', fewer(7)),
  ],
  [
    'AlternateThree ahead of the baseline, bursts of 1,000',
    at('BurstSubmit', 'batched', 'goja_nodejs', 1.22),
  ],
  [
    'AlternateThree ahead of the baseline under garbage collection, by 1 %',
    at('GCPressure', 'batched', 'goja_nodejs', 1.01),
  ],
  // The runtime itself allocates some bytes now and then: a little less will do.
  [
    'Bytes of a task, 64 to 24',
    at(throughput, 'batched', 'goja_nodejs', 64 / 24, 'bytes_per_op', 2.5),
  ],
  ['Proposed loop: answers below 1 µs', at('PingPongLatency', 'millrace', 1000, 1)],
  ['Proposed loop: over 10 million tasks a second', at('PingPong', 'millrace', 100, 1)],
  [
    '5 % ahead of the baseline in all latency cases',
    at('PingPongLatency', 'millrace', 'goja_nodejs', 1.05),
  ],
  [
    '5 % ahead of AlternateThree in all throughput cases',
    at(throughput, 'millrace', 'batched', 1.05),
  ],
  [
    'Batching and low latency exclude each other',
    [
      ...at('PingPong', 'millrace', 'batched', 1),
      ...at('PingPongLatency', 'millrace', 'goja_nodejs', 1),
    ],
    true,
  ],
];

/**
 * Statements of the report beyond those of the list of claims: every row of its tables that has a figure against another one, and
 * what its chapters 2, 4 and 10 say of causes.
 */
const statements = [
  [
    'AlternateTwo behind the baseline, one producer, by 36 %',
    at('PingPong', 'goja_nodejs', 'lockfree', fewer(36)),
  ],
  [
    'AlternateOne behind the baseline, one producer, by 70 %: the cost of safety',
    at('PingPong', 'goja_nodejs', 'safe', fewer(70)),
  ],
  [
    'AlternateOne ahead of the baseline, ten producers, by 14.1 %',
    at('MultiProducer10', 'safe', 'goja_nodejs', 1.141),
  ],
  [
    'AlternateTwo ahead of the baseline, ten producers, by 1.7 %',
    at('MultiProducer10', 'lockfree', 'goja_nodejs', 1.017),
  ],
  [
    'AlternateTwo ahead of the baseline, bursts of 1,000, by 2 %',
    at('BurstSubmit', 'lockfree', 'goja_nodejs', 1.02),
  ],
  [
    'Main behind the baseline, bursts of 1,000, by 26 %',
    at('BurstSubmit', 'goja_nodejs', 'tick', fewer(26)),
  ],
  [
    'AlternateOne behind the baseline, bursts of 1,000, by 8 %',
    at('BurstSubmit', 'goja_nodejs', 'safe', fewer(8)),
  ],
  [
    'Main behind the baseline under garbage collection, by 44 %',
    at('GCPressure', 'goja_nodejs', 'tick', fewer(44)),
  ],
  [
    'AlternateThree twice as fast as Main, in the case of allocation',
    at('Allocation', 'batched', 'tick', 171.4 / 81.9),
  ],
  [
    'Allocations of a task, 3 to 1',
    at('Allocation', 'batched', 'goja_nodejs', 3, 'allocs_per_op', 2.9),
  ],
  ['Main 20 to 40 % slower than AlternateThree', at(throughput, 'batched', 'tick', fewer(20))],
  [
    'Main behind the baseline in every case',
    at([...throughput, 'Allocation', 'PingPongLatency'], 'goja_nodejs', 'tick', 1),
  ],
  [
    'A lock-free queue adds the latency: one with a lock, woken in the same way, 21 times sooner',
    at('PingPongLatency', 'batched', 'lockfree', 21),
  ],
  ['Proposed loop: at most 32 bytes a task', at('Allocation', 'millrace', 32, 1, 'bytes_per_op')],
];

/** The most that the times of a case may vary. */
export const variance = { text: 'Less than 10 % variance', cases: throughput, most: 0.1 };

/** Number of tasks that are to run without a fault: numbered ones in each round of a case of their own, and under random load. */
export const faultless = {
  text: 'No fault in 100 million tasks',
  tasks: 100e6,
  numbered: 'HundredMillion',
};

/**
 * @typedef {object} Claim
 * @property {string} text
 * @property {{ case: string, of: string, than: string | number, claimed: number, metric: string, least: number }[]} places
 * @property {boolean} isDenied
 */

/** @type {(listed: any[]) => Claim[]} */
const claimsOf = (some) =>
  some.map(([text, places, isDenied = false]) => ({ text, places, isDenied }));

export const claims = claimsOf(listed);
export const further = claimsOf(statements);
