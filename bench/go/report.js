/**
 * The report's own tables: what it measured (macOS, Apple M2 Pro, Go 1.25.5, ten runs of a second), and what it says that its designs
 * have. Times in ns. A figure that it leaves out is null.
 */

/** Designs of the report by their names there, with the entrants that stand for them. */
export const designs = [
  ['Main', 'tick'],
  ['AlternateOne', 'safe'],
  ['AlternateTwo', 'lockfree'],
  ['AlternateThree', 'batched'],
  ['Baseline', 'goja_nodejs'],
];

/** The design that all are compared with. */
export const BASELINE = 'Baseline';

const inOrder = (values) => Object.fromEntries(designs.map(([name], i) => [name, values[i]]));

/**
 * Figures of the report by section, in its order. `p95` is that of the whole operation; there it is the mean again.
 *
 * @type {{ section: string, title: string, case: string, metrics: Record<string, Record<string, number | null>> }[]}
 */
export const tables = [
  {
    section: '1.1',
    title: 'PingPong, one producer',
    case: 'PingPong',
    metrics: { ns_per_op: inOrder([160.5, 340, 161.2, 95, 102.4]) },
  },
  {
    section: '1.2',
    title: 'PingPong, latency',
    case: 'PingPongLatency',
    metrics: {
      ns_per_op: inOrder([11131, 11280, 12564, 11232, 530.6]),
      p95_ns: inOrder([11100, 11300, 12600, 11200, 530]),
    },
  },
  {
    section: '1.3',
    title: 'ten producers',
    case: 'MultiProducer10',
    metrics: { ns_per_op: inOrder([213.8, 170.6, 195.4, 140.4, 198.8]) },
  },
  {
    section: '1.4',
    title: 'bursts of 1,000',
    case: 'BurstSubmit',
    metrics: { ns_per_op: inOrder([145.5, 117, 105.4, 88.5, 107.9]) },
  },
  {
    section: '1.5',
    title: 'a collection after every 1,000',
    case: 'GCPressure',
    metrics: {
      ns_per_op: inOrder([528.8, 345.8, 349.5, 292.4, 295]),
      bytes_per_op: inOrder([39, 31, 30, 26, 64]),
    },
  },
  {
    section: '1.6',
    title: 'allocation',
    case: 'Allocation',
    metrics: {
      ns_per_op: inOrder([171.4, 162.9, 119.7, 81.9, 88.1]),
      bytes_per_op: inOrder([25, 24, 24, 24, 64]),
      allocs_per_op: inOrder([1, 1, 1, 1, 3]),
    },
  },
];

/**
 * Section 5: what each design has there, and the entrants that have it here, as the tests of the entrants hold them to it.
 *
 * @type {{ feature: string, there: string[], here: string[] }[]}
 */
export const features = [
  {
    feature: 'ticks',
    there: ['Main', 'AlternateOne', 'AlternateTwo', 'AlternateThree'],
    here: ['tick', 'safe', 'lockfree', 'batched'],
  },
  {
    feature: 'lock-free queue',
    there: ['Main', 'AlternateOne', 'AlternateTwo', 'AlternateThree'],
    here: ['tick', 'lockfree'],
  },
  ...['timers', 'promises', 'descriptors', 'microtasks'].map((feature) => ({
    feature,
    there: designs.map(([name]) => name),
    here: [...designs.map(([, entrant]) => entrant), 'millrace'],
  })),
  { feature: 'runs on the caller', there: [BASELINE], here: ['millrace'] },
];
