/** An experiment of options of the command line, without a file. */
import { freePort } from '../run/up.js';
import { readExperiment } from './format.js';
import { usualMetrics } from './usual.js';

const CONNECTIONS = 50;
const SECONDS = { full: 10, quick: 2 };
const WARMUP_S = 1;

/** Beyond these a shell is needed for more than to start one program. */
const SHELL = /[;&|<>()`\n]/;

/**
 * @param {import('./args.js').Options} options
 * @returns {Promise<import('./format.js').Experiment>}
 */
export async function experimentOf(options) {
  const port = await freePort();
  const fill = (text) => text.replaceAll('{port}', `${port}`);
  const { proof, health, rate, samples } = options;
  const url = fill(options.ws ?? options.url[0]);
  const arm = (name) => ({
    name,
    command: shell(fill(options[name])),
    env: Object.fromEntries(
      Object.entries(options[`${name}-env`]).map(([key, value]) => [key, fill(value)]),
    ),
    url,
    ...(health && { health }),
    isOn: proof ? (run) => showsProof(run, proof) : usesMillrace,
  });
  return readExperiment(
    {
      question: 'Is the treatment better than the control?',
      about: `Control: ${options.control}\nTreatment: ${options.treatment}`,
      control: arm('control'),
      treatment: arm('treatment'),
      load: loadOf(options, fill),
      metrics: usualMetrics(rate !== undefined),
      ...(samples && { rounds: { full: samples, quick: samples } }),
    },
    'experiment',
  );
}

/**
 * What to do about a refusal, in terms of the command line.
 *
 * @param {import('./errors.js').Refusal} refusal
 * @param {import('./args.js').Options} options
 * @returns {string}
 */
export function adviceOf({ why, advice }, { proof }) {
  if (!why.includes('the feature was')) return advice;
  if (proof) {
    return `--proof ${proof.source} must be seen in output or answers of the treatment, and never of the control`;
  }
  return (
    "Without --proof, Millrace's own counters say whether it is on: they must move in the treatment and not in " +
    'the control. Switch it on in the treatment alone (node --import millrace/auto app.js), or give --proof REGEX ' +
    'for what only the treatment writes or answers'
  );
}

/** As the command line has it; the server itself becomes the process that is asked to end. */
function shell(text) {
  const [, assignments, command] = /^((?:[A-Za-z_]\w*=\S*\s+)*)(.*)$/s.exec(text.trim());
  return ['sh', '-c', SHELL.test(text) ? text : `${assignments}exec ${command}`];
}

function showsProof({ output, first = '' }, proof) {
  return proof.test(output) || proof.test(first);
}

function usesMillrace({ probe }) {
  const counters = Object.values(probe?.millrace ?? {});
  return counters.some((each) => Object.values(each).some((value) => value > 0));
}

function loadOf(options, fill) {
  const { connections = CONNECTIONS, warmup = WARMUP_S, rate, ws, script } = options;
  const seconds = ({ quick }) => options.seconds ?? SECONDS[quick ? 'quick' : 'full'];
  const times = { seconds, warmup, connections };
  if (ws !== undefined) {
    const { protocol = 'raw' } = options;
    const mode = rate === undefined ? { mode: 'closed' } : { mode: 'open', rate };
    return { kind: 'ws', protocol, ...mode, ...times };
  }
  if (script !== undefined) return { kind: 'script', file: script, ...times };
  const paths = options.url.map((each) => {
    const { pathname, search } = new URL(fill(each));
    return `${pathname}${search}`;
  });
  if (rate === undefined) return { kind: 'http', paths, ...times };
  const mix = (length) =>
    paths.map((path, i) => ({
      ...{ name: `GET ${path}`, path, at: (i * 1000) / rate },
      ...{ rate: rate / paths.length, seconds: length },
    }));
  return {
    kind: 'requests',
    requests: (params) => mix(seconds(params)),
    ...(warmup > 0 && { warmup: () => mix(warmup) }),
  };
}
