/**
 * Claims of five documents, and the tests of each: the table of docs/research/results.md. Each has been put in our own words, and is judged
 * on the claim's own metric. What was measured under another one is told beside it, without a verdict.
 *
 * @typedef {object} Listed
 * @property {string} source the document
 * @property {string} where in it
 * @property {string} text
 * @property {number | null} claimed how many times better; null where there is no figure
 * @property {{ experiment: string, metric: string, arm?: string }[]} [tests] claims of experiments that measure it; of all
 *   of their arms, or of one
 * @property {Bound} [bound] in place of `tests`: what the treatment must keep by itself, whatever the control does
 * @property {{ name: string, page: string, what: string }} [bench] the benchmark that does, and the page with its figures
 * @property {string} [declined] why it is not measured
 * @property {{ experiment: string, metric: string, arm?: string }[]} [beside] figures of experiments under another metric
 *
 * @typedef {object} Bound met when every round keeps it, refuted by one that does not
 * @property {string} experiment
 * @property {string} metric
 * @property {string} arm
 * @property {number} atMost
 */

const less = (percent) => 1 / (1 - percent / 100);
const more = (percent) => 1 + percent / 100;
const fewer = (percent) => 1 - percent / 100;

/** `'files files_per_s'` is the claim of the experiment files on that metric; the name of an arm may follow. */
const tested = (...names) => ({ tests: names.map(named) });
const beside = (...names) => ({ beside: names.map(named) });
const bounded = (name, atMost) => ({ bound: { ...named(name), atMost } });

function named(name) {
  const [experiment, metric, ...arm] = name.split(' ');
  return { experiment, metric, ...(arm.length > 0 && { arm: arm.join(' ') }) };
}
const declined = (why) => ({ declined: why });

const thesis = section(
  'T. Gumgaonkar, Enhancing event loop efficiency in Node.js through adaptive event batching in libuv (2025)',
);
const tournament = section('Event loop tournament for Go (2026)');
const article = section('The Node.js event loop: inner workings and best practices (Platformatic)');
const balancer = section(
  'R. Addula, Improving the scalability of Node.js applications in the cloud (2024)',
);
const sockets = section('S. Jasti and others, libuv TCP stream performance experiments');

const go = (what) => ({ bench: { name: 'go', page: '../benchmarks/go-tournament.md', what } });

/** @type {Listed[]} */
export const CLAIMS = [
  thesis('7.10, 9.1', 'Messages a second', more(58.82), tested('chat-messages msgs_per_s')),
  thesis(
    '7.6, 9.1',
    'Requests a second, 1.9 to 3 thousand',
    more(64.44),
    tested('chat-requests requests_per_s'),
  ),
  thesis('7.5, 9.1', 'CPU use, 11.66 to 7.40 %', less(36.54), tested('chat-equal cores')),
  thesis(
    '7.5',
    'CPU use at high concurrency, up to',
    less(35.2),
    tested('chat-patterns cores', 'chat-http-patterns cores'),
  ),
  thesis('4.3.2', 'CPU use, minimum required', less(15), tested('chat-equal cores')),
  thesis(
    '7.10, 9.1',
    'File operations a second',
    more(294.32),
    tested('files files_per_s', 'chat-files files_per_s'),
  ),
  thesis('7.5', 'Context switching overhead', less(42.1), tested('chat-switches switches_per_msg')),
  thesis('7.8', 'Peak memory under high load', less(0.77), tested('chat-memory peak_rss_mb')),
  thesis(
    '7.8',
    'Memory use varies less, 62 to 77 % to about 70 %',
    null,
    tested('chat-memory rss_range_mb'),
  ),
  thesis(
    '7.8',
    'Allocations and deallocations',
    less(23.5),
    tested('chat-allocations allocator_calls_per_msg'),
    beside('chat-memory allocated_bytes_per_msg'),
  ),
  thesis('7.8', 'Memory fragmentation', less(15.2), tested('chat-memory fragmentation_percent')),
  thesis(
    '7.9',
    'Dead emits: events without a listener yet',
    less(94.7),
    tested('emits lost_share'),
  ),
  thesis('7.9', 'Crashes under extreme load, all of them', null, tested('chat-errors crashes')),
  thesis('4.3.2', 'Errors, fewer', null, tested('chat-errors refused_percent')),
  thesis('4.3.2', 'Unhandled events, fewer', null, tested('chat-errors unhandled')),
  thesis(
    '7.9',
    'Critical events are never missed under load',
    null,
    bounded('overload high_missed_share guard', 0),
    beside('overload high_success guard'),
  ),
  thesis(
    '7.7',
    'Spread of latency, 50 to 120 ms to about 75 ms (p = 0.0286)',
    null,
    tested('chat-equal spread_ms'),
  ),
  thesis(
    '7.6',
    'Stability in sudden spikes of traffic',
    null,
    tested('chat-patterns p99_ms', 'chat-http-patterns p99_ms'),
  ),
  thesis(
    '4.3.2',
    'More predictable performance',
    null,
    tested('chat-messages rate_spread_percent'),
  ),
  thesis(
    '8.5',
    'Batch sizes predicted by machine learning, 10 to 15 % more',
    more(10),
    declined('future work; the paper does not say how'),
  ),
  thesis(
    '8.3',
    '64 % more concurrent users',
    more(64),
    declined('the figure of requests a second; no measurement of its own'),
  ),
  thesis(
    '1',
    '85 % of real-time applications use Node.js',
    null,
    declined('a statement about the market'),
  ),

  tournament(
    '1.1',
    'AlternateThree ahead of the baseline, one producer',
    more(8),
    go('PingPong: batched, goja_nodejs'),
  ),
  tournament(
    '1.1',
    'Main behind the baseline, one producer, by 36 %',
    fewer(36),
    go('PingPong: tick, goja_nodejs'),
  ),
  tournament(
    '1.2',
    'The baseline answers 21 times faster than all others',
    21,
    go('PingPongLatency'),
  ),
  tournament(
    '1.3',
    'AlternateThree ahead of the baseline, ten producers',
    more(35),
    go('MultiProducer10'),
  ),
  tournament(
    '1.3',
    'Main behind the baseline, ten producers, by 7 %',
    fewer(7),
    go('MultiProducer10: tick, goja_nodejs'),
  ),
  tournament(
    '1.4',
    'AlternateThree ahead of the baseline, bursts of 1,000',
    more(22),
    go('BurstSubmit'),
  ),
  tournament(
    '1.5',
    'AlternateThree ahead of the baseline under garbage collection, by 1 %',
    295 / 292.4,
    go('GCPressure'),
  ),
  tournament(
    '1.6',
    'Bytes of a task, 64 to 24',
    64 / 24,
    go('Allocation, and the bytes of every case'),
  ),
  tournament(
    '3.2, 9.1',
    'Batching and low latency exclude each other',
    null,
    go('PingPong beside PingPongLatency'),
  ),
  tournament('6.3, 10', 'Proposed loop: answers below 1 µs', null, go('PingPongLatency, Do')),
  tournament('6.3, 10', 'Proposed loop: over 10 million tasks a second', null, go('PingPong')),
  tournament(
    '10',
    '5 % ahead of the baseline in all latency cases',
    more(5),
    go('PingPongLatency, Do'),
  ),
  tournament(
    '10',
    '5 % ahead of AlternateThree in all throughput cases',
    more(5),
    go('PingPong, MultiProducer10, BurstSubmit, GCPressure'),
  ),
  tournament('10', 'Less than 10 % variance', null, go('the column of variation')),
  tournament('10', 'No fault in 100 million tasks', null, go('Stability')),

  article(
    'Under pressure',
    '200s under overload by refusing, 31 to 96',
    96 / 31,
    tested('overload ok_per_s guard', 'overload-servers ok_per_s under-pressure'),
    beside('overload good_per_s guard'),
  ),
  article(
    'Under pressure',
    'Requests answered in any way, 527 to 19,000',
    19_000 / 527,
    tested('overload-servers requests_per_s'),
  ),
  article(
    'Under pressure',
    'Latency under overload, above 1 s to 338 ms',
    1000 / 338,
    tested('overload ok_p50_ms'),
  ),
  article(
    'Under pressure',
    'A load-aware server gives the most 200s: more than 96 instead of 31',
    96 / 31,
    tested('overload ok_per_s guard with a cache', 'overload-servers ok_per_s load-aware'),
    beside('overload good_per_s guard with a cache'),
  ),
  article(
    'Normal flow',
    'Response time is 2 SP + 1 AP; 50 requests a second at 10 ms of SP',
    null,
    declined('arithmetic, for a server whose requests all cost the same'),
  ),

  balancer(
    'abstract',
    'Scalability on average',
    more(35),
    tested(
      ...['compute-all all_s', 'compute-balanced all_s'],
      ...['compute-fibonacci fibonacci_ms', 'compute-rsa rsa_ms'],
    ),
  ),
  balancer(
    '8.2, figure 5',
    '/health beside a computation, 10.2 s to 436 ms',
    10_200 / 436,
    tested('compute-health health_ms'),
  ),
  balancer('8.1', '75 % of the code is parallel', null, tested('compute-amdahl all_s')),
  balancer(
    '1',
    'Algorithms that use less energy',
    null,
    declined('no machine of ours has a counter of energy (RAPL)'),
    beside('compute-cpu cpu_s'),
  ),
  balancer(
    '8.3, tables 3 and figure 5',
    'Times of F(N), RSA, records and calls on 4 cores of AWS EC2',
    null,
    declined('of one machine, without a comparison'),
  ),
  balancer(
    'abstract, 8.4 to 8.7',
    'Containers of AWS ahead of those of GCP for CPU-bound tasks',
    more(18),
    declined('a comparison of two clouds, not of programs'),
  ),
  balancer(
    '8.7',
    'Containers a bit slower than bare processes',
    null,
    tested('compute-container all_s'),
  ),
  balancer(
    '4',
    '74 %, 115 and 14.5 times and other figures of related work',
    null,
    declined('results of other papers, about other programs'),
  ),

  sockets(
    'Tests',
    'Total run time, 128 clients reading 5 MB a few times',
    more(8),
    tested('tcp run_s'),
  ),
  sockets(
    'Tests',
    'Use of other resources stays flat',
    null,
    tested('tcp cpu_s_per_gb'),
    beside('tcp kernel_s_per_gb'),
  ),
  sockets(
    'Tests',
    'Loop latency falls drastically; figures only in charts',
    null,
    tested('tcp loop_p99_ms'),
    beside('tcp loop_p50_ms'),
  ),
  sockets(
    'Tests',
    'Larger reads alone, of 128 KB to 1 MB: nothing promising',
    null,
    declined('no claim of a gain; examples/streaming/run has arms of these sizes'),
  ),
  sockets(
    'Observations',
    'With an empty callback no gain is visible; it grows with concurrency',
    null,
    declined('no figure; the experiment tcp has such a case at the paper’s size'),
    beside('tcp run_s'),
  ),
];

function section(source) {
  return (where, text, claimed, ...how) => ({
    source,
    where,
    text,
    claimed,
    ...Object.assign({}, ...how),
  });
}
