/** Results as an experiment leaves them, from a seed: the arms differ by what is asked for. */

import { judge } from '../../experiment/judge.js';
import { asked } from '../../experiment/record.js';
import { randomFrom } from '../../stats/random.js';

const METRICS = [
  { name: 'msgs_per_s', title: 'messages per second', unit: '1/s', better: 'higher', base: 41_200 },
  {
    name: 'cpu_us_per_msg',
    title: 'CPU time per message',
    unit: 'µs',
    better: 'lower',
    base: 18.4,
  },
  { name: 'p99_ms', title: 'latency, 99th percentile', unit: 'ms', better: 'lower', base: 84 },
  { name: 'peak_rss_mb', title: 'memory at its peak', unit: 'MB', better: 'lower', base: 142 },
  { name: 'switches_per_s', title: 'context switches', unit: '1/s', better: 'lower', base: 3100 },
  { name: 'errors', title: 'errors', unit: '', better: 'lower', base: 0 },
];

const CLAIMS = [
  {
    ...{ text: '58.82 % more messages per second', source: 'paper, section 5.2' },
    ...{ metric: 'msgs_per_s', atLeast: 1.5882 },
  },
  {
    ...{ text: 'CPU use at least 15 % lower', source: 'requirements, item 4' },
    ...{ metric: 'cpu_us_per_msg', atLeast: 1.1765 },
  },
];

const PAPER = { control: { msgs_per_s: 1700 }, treatment: { msgs_per_s: 2700 } };

const NOTE = 'The rooms are of equal size; in a room of two there is little to gather.';

const HOST = {
  ...{ cpu: 'AMD EPYC 7763', cores: 2, memory_bytes: 8_323_000_000, kernel: 'Linux 6.1.0' },
  ...{ arch: 'x64', node: 'v20.20.2', v8: '11.3.244.8', libuv: '1.46.0' },
};

const SHARES = [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1];

/**
 * @param {object} [options]
 * @param {number} [options.seed]
 * @param {number} [options.rounds]
 * @param {string[]} [options.cases]
 * @param {string[]} [options.treatments]
 * @param {number} [options.gain] of the first treatment in the last case, times
 * @param {number} [options.noise] standard deviation of the logarithm of a round
 * @param {object} [options.rest] keys of the results that are to be others
 */
export function sampleResults({
  seed = 1,
  rounds = 12,
  cases = [''],
  treatments = ['adaptive'],
  gain = 1.58,
  noise = 0.03,
  rest = {},
} = {}) {
  const random = randomFrom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const arms = [
    { role: 'control', name: 'direct' },
    { role: 'twin', name: 'direct' },
    ...treatments.map((name) => ({ role: 'treatment', name })),
  ];
  const experiment = {
    ...{ name: 'chat-messages', claims: CLAIMS, notes: () => [NOTE] },
    question: 'Does a chat server deliver more messages when it sends them in batches?',
    about: 'Five hundred people in ten rooms; each message goes to the 49 others of its room.',
    control: { name: 'direct', isOn: isTreatment },
    treatments: treatments.map((name) => ({ name, isOn: isTreatment })),
    cases: cases.map((label) => ({ label, paper: PAPER })),
    metrics: METRICS.map(({ base, ...metric }) => ({
      ...metric,
      of: (run) => run.values[metric.name],
    })),
  };
  const gatheredRounds = cases.flatMap((label, at) =>
    Array.from({ length: rounds }, (_, i) => ({
      ...{ case: label, round: i + 1 },
      runs: arms.map((arm) => {
        const index = treatments.indexOf(arm.name);
        const reach = (at + 1) / cases.length / (index + 1);
        const effect = arm.role === 'treatment' ? 1 + (gain - 1) * reach : 1;
        const made = run({ ...arm, label, round: i + 1, effect, noise, normal, random });
        return asked(made, { ...arm, isOn: isTreatment }, [experiment]);
      }),
    })),
  );
  const gathered = {
    ...{
      date: new Date('2026-03-04T09:12:45.120Z'),
      seconds: 4512,
      size: 'paper',
      seed: 3_141_592_653,
    },
    ...{
      host: HOST,
      cases,
      rounds: gatheredRounds,
      partial: null,
      error: null,
      mistakes: new Map(),
    },
    arms: arms.map((arm) => ({
      ...arm,
      command: ['node', 'examples/chat/server.js', '--port', '0'],
      env: { DELIVERY: arm.name },
    })),
  };
  return { ...judge(experiment, gathered), versions: { millrace: '0.1.0', ws: '8.23.0' }, ...rest };
}

const isTreatment = ({ role }) => role === 'treatment';

function run({ role, name, label, round, effect, noise, normal, random }) {
  const speed = effect * Math.exp(noise * normal());
  const jitter = () => Math.exp(noise * normal());
  const metrics = {
    msgs_per_s: METRICS[0].base * speed,
    cpu_us_per_msg: (METRICS[1].base / speed) * jitter(),
    p99_ms: (METRICS[2].base / effect ** 2) * jitter() ** 3,
    peak_rss_mb: METRICS[3].base * effect ** 0.1 * jitter(),
    switches_per_s: METRICS[4].base * jitter() ** 3,
    errors: 0,
  };
  const p50 = 21 / effect;
  const tail = (share) => p50 * (0.4 + (-Math.log10(1 - share * 0.99999) / 0.8) ** 1.3) * jitter();
  let last = 0;
  const percentiles = SHARES.map((share) => {
    last = Math.max(last, tail(share));
    return [share, last];
  });
  const at = (index) => percentiles[index][1];
  const each = (of) => Array.from({ length: 20 }, (_, i) => [i + 1, of(i)]);
  return {
    ...{ case: label, round, role, arm: name, startedAt: '2026-03-04T09:12:45.120Z' },
    costs: {
      ...{ wallS: 20, cpuS: 15.1, othersS: 0.4, peakRssBytes: metrics.peak_rss_mb * 1e6 },
      series: {
        cpu: each(() => Math.min(1, 0.8 * jitter())),
        rss_bytes: each((i) => metrics.peak_rss_mb * 1e6 * (0.7 + 0.3 * (1 - Math.exp(-i / 5)))),
      },
    },
    probe: { series: { loop_delay_ms: each(() => (12 / effect) * jitter() ** 4) } },
    work: [{ name: 'messages', answers: 1000, status: { ok: 1000 }, bytes: 214, payload: 'a1' }],
    latency: {
      n: 800_000,
      p50: at(1),
      p90: at(3),
      p99: at(5),
      p999: at(7),
      max: at(9),
      mean: at(1),
    },
    percentiles,
    values: metrics,
    series: {
      msgs_per_s: each(
        (i) => metrics.msgs_per_s * (i === 0 ? 0.9 : 1) * (1 + 0.1 * (random() - 0.5)),
      ),
    },
    ...{ saturated: null, faults: [], isClosed: true },
  };
}
