/**
 * The pods of an application, and what their /metrics said lately.
 *
 * A pod is an address that a name has: a headless Service has one for each pod that is ready. Each reading looks the names up and asks
 * every pod. Of each pod the samples of the last `windowMs` are kept, counted back from its newest one. Utilization is their mean;
 * shares of counters are of what was counted between the oldest and the newest. A pod whose counters fall has restarted, and begins
 * anew.
 *
 * A pod that does not answer keeps its samples, and its value counts for `holdMs` after its last answer. From then on it counts as the
 * others do: it may be too busy to answer, and without it there would seem to be less load. A pod that its name no longer has is
 * dropped at once; if a name cannot be looked up, the pods that it had stay.
 *
 * The autoscaler divides a value by the number of pods, so a value is that of all together: the mean or the highest of the pods, times
 * the number of those that have ever answered.
 */
import dns from 'node:dns/promises';
import http from 'node:http';
import { isIP } from 'node:net';
import { readCounts } from './exposition.js';
import { Away } from './watch.js';

/** Bytes of an answer, and pods of one source. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_PODS = 1000;

const counters = ['batches', 'full', 'requests', 'shed'];

const values = {
  'loop-utilization': (pod) => pod.mean('utilization'),
  'batch-fill': (pod) => pod.share('full', 'batches'),
  'shed-rate': (pod) => pod.share('shed', 'requests'),
};

class Pod {
  /** Samples of the window, the oldest first: `{ at, ...counts }`. */
  #samples = [];

  constructor(url, address) {
    this.url = url;
    this.address = address;
  }

  /** Time of the last answer; -Infinity without one. */
  get answeredAt() {
    return this.#samples.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
  }

  add(sample, windowMs) {
    const last = this.#samples.at(-1);
    if (last && counters.some((name) => sample[name] < last[name])) this.#samples = [];
    this.#samples.push(sample);
    while (this.#samples[0].at < sample.at - windowMs) this.#samples.shift();
  }

  /** Null without a sample. */
  mean(name) {
    if (this.#samples.length === 0) return null;
    return this.#samples.reduce((sum, sample) => sum + sample[name], 0) / this.#samples.length;
  }

  /** Null without two samples. Below one event per second it is a share of one per second, so that a single refusal is not a share of 1. */
  share(part, whole) {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === last) return null;
    const seconds = (last.at - first.at) / 1000;
    return (last[part] - first[part]) / Math.max(last[whole] - first[whole], seconds);
  }
}

export class Pods {
  #urls;
  #windowMs;
  #holdMs;
  #timeoutMs;
  /** By URL and address. */
  #pods = new Map();
  #fault = 'it was not asked yet';

  /** @param {{ urls: string[], windowMs: number, holdMs: number, timeoutMs: number }} options */
  constructor({ urls, windowMs, holdMs, timeoutMs }) {
    this.#urls = urls;
    this.#windowMs = windowMs;
    this.#holdMs = holdMs;
    this.#timeoutMs = timeoutMs;
  }

  get name() {
    return this.#urls.join(',');
  }

  /** Shares of counters need a second reading. */
  get needsAnother() {
    return [...this.#pods.values()].every((pod) => pod.share('full', 'batches') === null);
  }

  get answeredAt() {
    return Math.max(...[...this.#pods.values()].map((pod) => pod.answeredAt), -Infinity);
  }

  /**
   * Asks every pod.
   *
   * @param {() => number} now in ms
   * @returns {Promise<string[]>} what went wrong, by pod
   */
  async read(now) {
    const faults = [];
    await this.#find(faults);
    await Promise.all(
      [...this.#pods.values()].map(async (pod) => {
        try {
          const counts = readCounts(await get(pod, this.#timeoutMs));
          pod.add({ at: now(), ...counts }, this.#windowMs);
        } catch (error) {
          faults.push(`${pod.address}: ${error.message}`);
        }
      }),
    );
    this.#fault = faults[0] ?? 'it was not asked since';
    return faults;
  }

  /**
   * @param {import('./triggers.js').Trigger} trigger
   * @param {number} now in ms
   * @returns {{ each: number, total: number }} of a pod, and of all together
   * @throws {Away} if none has answered within `holdMs`
   */
  value({ metric, aggregate }, now) {
    const known = [...this.#pods.values()]
      .map((pod) => ({ at: pod.answeredAt, value: values[metric](pod) }))
      .filter(({ value }) => value !== null);
    const held = known.filter(({ at }) => at >= now - this.#holdMs).map(({ value }) => value);
    if (held.length === 0) throw new Away(this.#fault);
    const sum = held.reduce((total, value) => total + value, 0);
    const each = aggregate === 'max' ? Math.max(...held) : sum / held.length;
    return { each, total: each * known.length };
  }

  close() {}

  /** Looks the names up: pods that they no longer have are dropped, new ones are there without samples. */
  async #find(faults) {
    const before = this.#pods;
    const found = await Promise.all(
      this.#urls.map(async (url) => {
        try {
          return (await addresses(url)).map((address) => new Pod(url, address));
        } catch (error) {
          faults.push(`${new URL(url).hostname}: ${error.message}`);
          return [...before.values()].filter((pod) => pod.url === url);
        }
      }),
    );
    const pods = found.flat();
    if (pods.length > MOST_PODS) {
      faults.push(`there are ${pods.length} pods; only ${MOST_PODS} are asked`);
    }
    const keyed = pods.slice(0, MOST_PODS).map((pod) => [`${pod.url} ${pod.address}`, pod]);
    this.#pods = new Map(keyed.map(([key, pod]) => [key, before.get(key) ?? pod]));
  }
}

async function addresses(url) {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host)) return [host];
  return (await dns.lookup(host, { all: true })).map(({ address }) => address);
}

/** The text of a pod. The name of its URL goes with the request: it may be one of several behind an address. */
function get({ url, address }, timeoutMs) {
  const { host, port, pathname, search } = new URL(url);
  const { promise, resolve, reject } = deferred();
  const request = http.get({
    host: address,
    port,
    path: pathname + search,
    headers: { host, accept: 'text/plain' },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  });
  request.once('error', (error) =>
    reject(error.name === 'AbortError' ? new Error(`no answer within ${timeoutMs} ms`) : error),
  );
  request.once('response', (response) => {
    const fail = (message) => {
      reject(new Error(message));
      response.destroy();
    };
    if (response.statusCode !== 200) return fail(`it answered ${response.statusCode}`);
    let text = '';
    response.setEncoding('utf8').on('data', (part) => {
      text += part;
      if (text.length > MOST_BYTES) fail(`its text has more than ${MOST_BYTES} bytes`);
    });
    response.once('error', () => reject(new Error(`no whole answer within ${timeoutMs} ms`)));
    response.once('end', () => resolve(text));
  });
  return promise;
}

function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
