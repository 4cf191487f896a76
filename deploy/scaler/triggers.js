/**
 * The metadata of a trigger: which metric, of which source, and its threshold. Everything is text, as YAML of a ScaledObject has it,
 * and is checked before anything is asked for: a name with a typing error is refused, not passed over.
 */
import { show } from '@millrace/base/errors';

/** A trigger that cannot be served as it is written, or a call for a metric that its trigger does not have. */
export class Refusal extends Error {}

/** Metrics by name. `threshold` is the default; the highest one is 1 for shares. */
export const metrics = {
  'loop-utilization': { of: 'pods', threshold: 0.6, most: 1 },
  'batch-fill': { of: 'pods', threshold: 0.5, most: 1 },
  'shed-rate': { of: 'pods', threshold: 0.01, most: 1 },
  'task-depth': { of: 'stream', threshold: 100, most: Number.MAX_SAFE_INTEGER },
};

/** Keys of the metadata by kind of source, beside those of both kinds. */
const keys = { pods: ['source', 'aggregate'], stream: ['stream', 'priority'] };
const common = ['metric', 'threshold', 'activationThreshold'];
/** Keys that KEDA reads itself, and hands on. */
const ofKeda = ['scalerAddress', 'enableTLS', 'unsafeSsl'];

const aggregates = ['average', 'max'];
const priorities = ['all', 'high', 'normal', 'low'];
/** Addresses of one source. */
const mostUrls = 100;

/**
 * @typedef {object} Trigger
 * @property {string} metric its name
 * @property {number} threshold value that one pod should have
 * @property {number} activationThreshold value above which there is something to do
 * @property {{ kind: 'pods', urls: string[] } | { kind: 'stream', name: string }} source
 * @property {string} [aggregate] of pods
 * @property {string} [priority] of a stream
 */

/**
 * @param {Record<string, string>} metadata
 * @returns {Trigger}
 * @throws {Refusal} that names the key, its value, and what is allowed
 */
export function readTrigger(metadata) {
  const given = new Map(Object.entries(metadata).filter(([key]) => !ofKeda.includes(key)));
  const metric = given.get('metric');
  if (!Object.hasOwn(metrics, metric ?? '')) throw unknownMetric(metric);
  const { of, threshold, most } = metrics[metric];
  const known = [...common, ...keys[of]];
  for (const key of given.keys()) {
    if (known.includes(key)) continue;
    throw new Refusal(
      `metadata has ${show(key)}; those of ${metric} are ${known.join(', ')}, beside ${ofKeda.join(', ')}`,
    );
  }
  return {
    metric,
    threshold: number(given, 'threshold', threshold, 'above 0', most),
    activationThreshold: number(given, 'activationThreshold', 0, 'from 0', most),
    ...(of === 'pods'
      ? { source: pods(given.get('source')), aggregate: one(given, 'aggregate', aggregates) }
      : { source: stream(given.get('stream')), priority: one(given, 'priority', priorities) }),
  };
}

/** A metric that nothing here is called, with the names that there are. */
export const unknownMetric = (name) =>
  new Refusal(`metric is ${show(name)}; those known are ${Object.keys(metrics).join(', ')}`);

function number(given, key, otherwise, from, most) {
  const text = given.get(key);
  if (text === undefined) return otherwise;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= 0 && value <= most && (value > 0 || from === 'from 0')) return value;
  throw new Refusal(`${key} is ${show(text)}; it must be a number ${from}, at most ${most}`);
}

function one(given, key, allowed) {
  const text = given.get(key) ?? allowed[0];
  if (allowed.includes(text)) return text;
  throw new Refusal(`${key} is ${show(text)}; it must be one of ${allowed.join(', ')}`);
}

function pods(text) {
  const urls = [...new Set((text ?? '').split(',').map((each) => each.trim()))];
  const isUrl = (url) => {
    const { protocol, username, password } = URL.canParse(url) ? new URL(url) : {};
    return protocol === 'http:' && username === '' && password === '';
  };
  if (urls.every(isUrl) && urls.length <= mostUrls) return { kind: 'pods', urls };
  throw new Refusal(
    `source is ${show(text)}; it must be the URL of /metrics by HTTP and without a user, as http://chat-pods.default.svc:8080/metrics, or up to ${mostUrls} of them with commas between`,
  );
}

function stream(name) {
  if (/^[\w-]{1,64}$/.test(name ?? '') && !name.endsWith('_dead')) return { kind: 'stream', name };
  throw new Refusal(
    `stream is ${show(name)}; it must be the name of a stream of tasks: 1 to 64 letters, digits, - and _, without _dead at its end`,
  );
}
