/** An experiment of options of the command line, without a file. */
import { freePort } from '../run/up.js';
import { readExperiment } from './format.js';
import { usualMetrics } from './metrics.js';
import { CONNECTIONS, ROUNDS, secondsOf, WARMUP_S } from './options.js';
import { SIZES } from './plan.js';
import { proofOf } from './proof.js';

/**
 * @param {import('./args.js').Options} options
 * @returns {Promise<{ experiment: import('./format.js').Experiment, adviceOf: (refusal: import('./refusal.js').Refusal) => string }>}
 *   `adviceOf` is what to do about a refusal, in terms of the command line
 */
export async function experimentOf(options) {
  const port = await freePort();
  const fill = (text) => text.replaceAll('{port}', `${port}`);
  const { health, rate, samples } = options;
  const url = fill(options.ws ?? options.url[0]);
  const proof = proofOf(options.proof);
  const arm = (name) => ({
    name,
    // The shell is asked to end with all that it has started: nothing of the command has to be understood here.
    command: ['sh', '-c', fill(options[name])],
    env: Object.fromEntries(
      Object.entries(options[`${name}-env`]).map(([key, value]) => [key, fill(value)]),
    ),
    url,
    ...(health && { health: fill(health) }),
    ...(options.proof && { proof: options.proof }),
    isOn: proof.isOn,
  });
  const experiment = readExperiment(
    {
      question: 'Is the treatment better than the control?',
      about: `Control: ${options.control}\nTreatment: ${options.treatment}\n${proof.about}`,
      control: arm('control'),
      treatment: arm('treatment'),
      load: loadOf(options, fill),
      metrics: usualMetrics(rate !== undefined),
      rounds: samples ? Object.fromEntries(SIZES.map((size) => [size, samples])) : ROUNDS,
    },
    'experiment',
  );
  const adviceOf = ({ kind, advice }) =>
    kind === 'off' || kind === 'on in the control' ? proof.advice(kind) : advice;
  return { experiment, adviceOf };
}

function loadOf(options, fill) {
  const { warmup = WARMUP_S, connections = CONNECTIONS, rate, ws, script } = options;
  const times = { seconds: ({ size }) => secondsOf(options, size), warmup, connections };
  if (ws !== undefined) {
    const { protocol = 'raw', reply, data, to } = options;
    const event = protocol === 'socket.io' ? (options.event ?? 'message') : undefined;
    const given = Object.entries({ event, reply, data, to });
    const names = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    const mode = rate === undefined ? { mode: 'closed' } : { mode: 'open', rate };
    return { kind: 'ws', protocol, ...names, ...mode, ...times };
  }
  if (script !== undefined) return { kind: 'script', file: script, ...times };
  const normalize = options.ignore && { normalize: options.ignore };
  const paths = options.url.map((each) => {
    const { pathname, search } = new URL(fill(each));
    return `${pathname}${search}`;
  });
  if (rate === undefined) return { kind: 'http', paths, ...times, ...normalize };
  return { kind: 'requests', ...openLoop(options, paths, warmup), ...normalize };
}

/** All paths in turns. */
function openLoop(options, paths, warmup) {
  const { rate } = options;
  const mix = (seconds) =>
    paths.map((path, i) => ({
      ...{ name: `GET ${path}`, path, at: (i * 1000) / rate },
      ...{ rate: rate / paths.length, seconds },
    }));
  return { requests: ({ size }) => mix(secondsOf(options, size)), warmup: () => mix(warmup) };
}
