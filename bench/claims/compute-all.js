import { cores, failures, latencyMs, longestMs } from '@millrace/lab/metrics';
import { ALL, ELSEWHERE, RSA, SCALABILITY, SOURCE } from './compute/paper.js';
import {
  control,
  cpuSecondsOf,
  fibonacci,
  health,
  photos,
  records,
  rsa,
  treatment,
  warmup,
} from './compute/service.js';

export { control, treatment };

export const question = 'All tasks at once: when is each of them done?';

export const about =
  'F(N), the RSA task of N and 1,000,000 records (in quick runs 200,000), all at the same time; beside them ten calls of /health and five of ' +
  'another service (photos). These may fail: between two tasks that block the main thread the service begins them, and ' +
  'then they time out; such a round has no latency of theirs, but says how many have failed. The last case is the ' +
  'paper’s: F(2,000,000) and RSA of 3,000,000. The paper’s columns are of its table 3, without F(N), and for the ' +
  'last case those of the text of section 8.3.';

export const claim = {
  text: 'Scalability 35 % better on average than with the default',
  source: `${SOURCE}, abstract`,
  metric: 'all_s',
  atLeast: SCALABILITY,
  says: { met: 'Tasks that do not need each other use all cores.' },
};

const recordsOf = (size) => (size === 'quick' ? 200_000 : 1_000_000);

export const load = {
  kind: 'requests',
  pin: false,
  warmup,
  takes: ({ n, rsaN = n, size }) =>
    cpuSecondsOf({ fibonacci: n, rsa: rsaN, records: recordsOf(size) }),
  requests: ({ n, rsaN = n, size }) => [
    fibonacci(n),
    rsa(rsaN),
    records(recordsOf(size)),
    photos({ at: 20, rate: 20, seconds: 0.25, mayFail: true }),
    health({ at: 30, rate: 20, seconds: 0.5 }),
  ],
  timeoutS: 1800,
};

export const cases = [
  ...[10, 1000, 100_000, 1_000_000].map((n) => ({
    label: n.toLocaleString('en-US'),
    n,
    from: n === 100_000 ? 'quick' : 'paper',
    rounds: n === 1_000_000 ? 3 : 6,
    paper: RSA[n],
  })),
  {
    label: '2,000,000; RSA 3,000,000',
    n: 2_000_000,
    rsaN: 3_000_000,
    from: 'paper',
    rounds: 1,
    paper: ALL,
  },
];

const ms = { unit: 'ms', better: 'lower' };

/** Seconds of the tasks alone, which begin together: the other requests have times of their own, up to half a second after that. */
const tasksS = (run) => {
  const ends = ['fibonacci', 'rsa', 'records'].map((name) => longestMs(name)(run));
  return ends.includes(null) ? null : Math.max(...ends) / 1000;
};

export const metrics = [
  { name: 'all_s', title: 'until all tasks are done', unit: 's', better: 'lower', of: tasksS },
  { ...ms, name: 'fibonacci_ms', title: 'F(N)', of: latencyMs('fibonacci') },
  { ...ms, name: 'rsa_ms', title: 'the RSA task', of: latencyMs('rsa') },
  { ...ms, name: 'records_ms', title: 'the records', of: latencyMs('records') },
  { ...ms, name: 'photos_ms', title: 'a call of another service, median', of: latencyMs('photos') },
  {
    name: 'photos_failed',
    title: 'such calls that failed, of 5',
    unit: '',
    better: 'lower',
    of: failures('photos'),
  },
  { ...ms, name: 'health_ms', title: '/health, median', of: latencyMs('health') },
  { name: 'cores', title: 'cores in use', unit: '', of: cores },
];

export const rounds = { quick: 6, paper: 50 };

export function notes() {
  const { fibonacci_ms, rsa_ms, photos_ms, records_ms, health_ms } = ELSEWHERE.EKS.all.treatment;
  const text = (value) => `${(value / 1000).toLocaleString('en-US')} s`;
  return [
    `The paper’s last case on AWS EKS with 6 cores (table 6): F(2,000,000) ${text(fibonacci_ms)}, RSA of 3,000,000 ` +
      `${text(rsa_ms)}, the records ${text(records_ms)}, another service ${photos_ms} ms, an API call ${health_ms} ms. ` +
      'Its text says 2 m 18 s of the first.',
  ];
}
