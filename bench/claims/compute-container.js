import { fileURLToPath } from 'node:url';
import { cpuS, latencyMs, wallS } from '@millrace/lab/metrics';
import { SOURCE } from './compute/paper.js';
import { fibonacci, health, treatment as pool, records, warmup } from './compute/service.js';

const START = fileURLToPath(new URL('../../deploy/container/start.js', import.meta.url));

export const question = 'What does a container cost the compute service?';

export const about =
  'The same service as a bare process, and in the image of deploy/Dockerfile as crun runs it: namespaces for processes, mounts, ' +
  'IPC and host name, a read-only root, no capabilities, control groups with 2 CPUs and 512 MB. The network is that of the machine in ' +
  'both arms, there is no virtual machine around either, and no seccomp filter: what an orchestrator adds by its bridges and ' +
  'proxies is not in it. The paper compares clusters with machines of other kinds, and that is in its figures. It wants root, buildah ' +
  'and crun.';

/** The limit of the container's memory, as the service sees it. */
const LIMIT_BYTES = 512 * 1024 * 1024;

const isOn = ({ answers }) => answers.at(-1).json.memory.totalBytes === LIMIT_BYTES;

/** The lab cannot look into the processes of a container, so it does not look into those of the other arm. */
const node = ['env', '-u', 'NODE_OPTIONS', process.execPath];

/** The service has as many threads as it may use CPUs in both arms. */
const args = ['--threads', '2', '--blocking-n', '3000000'];

export const control = {
  ...pool,
  name: 'bare process',
  command: [
    ...node,
    fileURLToPath(new URL('../../examples/compute/main.js', import.meta.url)),
    '--port',
    '0',
    ...args,
  ],
  isOn,
};

export const treatment = {
  ...pool,
  name: 'container',
  command: [...node, START, 'examples/compute', 'main.js', ...args],
  isOn,
};

export const claim = {
  text: 'Containerised applications are a bit slower than those that are not: 1.42 times at N = 1,000,000 on EKS against EC2',
  source: `${SOURCE}, section 8.7 and tables 3 and 5`,
  metric: 'all_s',
  atLeast: 0.95,
  says: { met: 'On one machine a container costs less than a twentieth.' },
};

export const load = {
  kind: 'requests',
  pin: false,
  warmup,
  requests: ({ tasks }) => [...tasks, health({ at: 1, rate: 20, seconds: 0.5 })],
};

export const cases = [
  {
    label: 'four computations of F(100,000)',
    tasks: Array.from({ length: 4 }, () => fibonacci(100_000)),
  },
  { label: '500,000 records', tasks: [records(500_000)] },
];

export const metrics = [
  { name: 'all_s', title: 'until all is done', unit: 's', better: 'lower', of: wallS },
  { name: 'cpu_s', title: 'CPU time', unit: 's', better: 'lower', of: cpuS },
  {
    name: 'health_ms',
    title: '/health meanwhile, median',
    unit: 'ms',
    better: 'lower',
    of: latencyMs('health'),
  },
];

export const rounds = { quick: 6, paper: 20 };
