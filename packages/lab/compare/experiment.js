/** A comparison as an experiment: A is its control, B its treatment. */
import { readExperiment } from '../experiment/format.js';
import { SIZES } from '../experiment/plan.js';
import { freePort } from '../run/up.js';
import { metricsOf } from './metrics.js';
import { CONNECTIONS, DURATION_S, ROUNDS, WARMUP_S } from './options.js';
import { proofOf } from './proof.js';

/** A server that is slow on a busy machine is not one that does not answer. */
const TIMEOUT_S = 60;

/**
 * @param {import('./args.js').Options} options
 * @returns {Promise<import('../experiment/terminal.js').Prepared>}
 */
export async function experimentOf(options) {
  const port = await freePort();
  const fill = (text) => text.replaceAll('{port}', `${port}`);
  const { health, rate, rounds = ROUNDS } = options;
  const url = fill(options.ws ?? options.url[0]);
  const { isOn, isIdle, about, advice } = proofOf(options.proof);
  const arm = (name, command) => ({
    name,
    // The shell is asked to end with all that it has started: nothing of the command has to be understood here.
    command: ['sh', '-c', fill(command)],
    url,
    ...(health && { health: fill(health) }),
    ...(options.proof && { proof: options.proof }),
    isOn,
  });
  const experiment = readExperiment(
    {
      question: 'Is B better than A?',
      about: `A: ${options.a}\nB: ${options.b}\n${about}`,
      control: arm('A', options.a),
      treatment: { ...arm('B', options.b), isIdle },
      load: loadOf(options, fill),
      metrics: metricsOf({ isOpen: rate !== undefined, isMessages: options.ws !== undefined }),
      rounds: Object.fromEntries(SIZES.map((size) => [size, rounds])),
    },
    'compare',
  );
  return { experiment, adviceOf: (refusal) => advice(refusal) ?? refusal.advice };
}

/** The load that the options say. `fill` puts the port into an address. */
export function loadOf(options, fill) {
  const { duration = DURATION_S, warmup = WARMUP_S, connections = CONNECTIONS } = options;
  const { rate, ws, script } = options;
  const times = { seconds: duration, warmup, connections };
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
  if (rate === undefined) {
    return { kind: 'http', paths, ...times, timeout: TIMEOUT_S, ...normalize };
  }
  const mix = (seconds) => inTurns(paths, rate, seconds);
  return {
    kind: 'requests',
    requests: () => mix(duration),
    warmup: () => mix(warmup),
    ...normalize,
  };
}

const inTurns = (paths, rate, seconds) =>
  paths.map((path, i) => ({
    ...{ name: `GET ${path}`, path, at: (i * 1000) / rate },
    ...{ rate: rate / paths.length, seconds },
  }));
