/**
 * The chat under mixed load for a while: what arrives, what is saved, and whether anything piles up.
 *
 * The time has four quarters that are loaded alike, each with the same waves; after each one everybody leaves. The
 * first is the warm-up, and the last is compared with the second.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from '../load/index.js';
import { CONNECTIONS, post } from './posts.js';
import { faultsOfSaved } from './saved.js';
import { SoakServer } from './server.js';
import { visit } from './visitors.js';

const QUARTERS = 4;
const WAVE_S = 10;
const SAMPLE_MS = 1000;
const VISITORS = 5;

/** How much more memory the last quarter may take than the second. */
const MAX_GROWTH = 0.2;

const LOAD = { protocol: 'chat', mode: 'open', pattern: 'mixed', warmup: 0 };

/** Options of the generator for each wave. The messages of the last wave are so many that a client that never reads is given up. */
const WAVES = [
  { connections: 150, rooms: 10, rate: 300, payload: 150, slowReaders: 5 },
  { connections: 40, rooms: 20, rate: 200, payload: 400, users: 'blend' },
  { connections: 25, rooms: 1, rate: 400, payload: 3900, slowReaders: 5 },
];

/**
 * @param {object} [options]
 * @param {number} [options.seconds] of load, 10 to 3600
 * @returns {Promise<Soak>}
 *
 * @typedef {object} Soak
 * @property {string} summary one line
 * @property {Record<'delivery' | 'saved' | 'server' | 'growth' | 'stop', string[]>} faults a sentence each
 */
export async function soak({ seconds = 120 } = {}) {
  if (!(seconds >= 10 && seconds <= 3600)) {
    throw new RangeError(`seconds is ${seconds}: it must be a number from 10 to 3600`);
  }
  const dir = await mkdtemp(join(tmpdir(), 'millrace-soak-'));
  try {
    return await soakIn(dir, seconds);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function soakIn(dir, seconds) {
  const server = await SoakServer.start(dir);
  try {
    return await new Run(server, dir, seconds).toEnd();
  } catch (error) {
    // When the chat has crashed, the first to notice is a client.
    if (server.said === '') throw error;
    throw new Error(`${error.message}; the chat said: ${server.said}`, { cause: error });
  } finally {
    await server.stop();
  }
}

class Run {
  #server;
  #dir;
  #seconds;
  #start;
  #reports = [];
  #quarters = [];
  #acknowledged = new Map();
  #visits = 0;
  #requests = 0;
  #faults = { delivery: [], saved: [], server: [], growth: [], stop: [] };

  constructor(server, dir, seconds) {
    this.#server = server;
    this.#dir = dir;
    this.#seconds = seconds;
  }

  async toEnd() {
    // The room that HTTP posts to is there once somebody has been in it.
    await this.#visit(AbortSignal.abort());
    this.#start = await this.#server.atRest();
    for (let quarter = 0; quarter < QUARTERS; quarter++) await this.#quarter();
    const { stats } = this.#quarters.at(-1).rest;
    this.#judgeGrowth();
    this.#judgeServer(stats);
    const code = await this.#server.stop();
    if (code !== 0) this.#faults.stop.push(`the chat ended with ${code}`);
    if (this.#server.said !== '') this.#faults.server.push(`it said: ${this.#server.said}`);
    this.#faults.saved = await faultsOfSaved(join(this.#dir, 'chat.db'), {
      rooms: Math.max(...WAVES.map(({ rooms }) => rooms)),
      acks: sum(this.#reports, 'acks'),
      acknowledged: this.#acknowledged,
    });
    return { summary: this.#summary(stats), faults: this.#faults };
  }

  async #quarter() {
    const cycles = Math.max(1, Math.round(this.#seconds / QUARTERS / WAVES.length / WAVE_S));
    const seconds = this.#seconds / QUARTERS / WAVES.length / cycles;
    const end = new AbortController();
    const sampling = this.#sample(end.signal);
    sampling.catch(() => {}); // a wave that fails says more
    try {
      for (let cycle = 0; cycle < cycles; cycle++) {
        for (const load of WAVES) await this.#wave(load, seconds);
      }
    } finally {
      end.abort();
    }
    const samples = await sampling;
    const rest = await this.#server.atRest(this.#start.descriptors);
    this.#quarters.push({ samples, rest });
  }

  async #wave(load, seconds) {
    const end = new AbortController();
    const visiting = this.#visit(end.signal);
    try {
      const [report, http] = await Promise.all([
        runLoad({ ...LOAD, ...load, seconds, port: this.#server.port }),
        post(this.#server.url, { seconds, onSaved: this.#onSaved }),
      ]);
      this.#reports.push(report);
      this.#requests += http.answers;
      this.#judgeDelivery(report, http);
    } finally {
      end.abort();
      await visiting;
    }
  }

  async #visit(signal) {
    const options = { count: VISITORS, signal, onSaved: this.#onSaved };
    const { visits, faults } = await visit(this.#server.url, options);
    this.#visits += visits;
    this.#faults.delivery.push(...faults);
  }

  #onSaved = (id, text) => this.#acknowledged.set(id, text);

  async #sample(signal) {
    const samples = [];
    while (!signal.aborted) {
      samples.push(await this.#server.vitals());
      await sleep(SAMPLE_MS, undefined, { signal }).catch(() => {});
    }
    return samples;
  }

  #judgeDelivery(report, http) {
    const faults = this.#faults.delivery;
    for (const count of ['lost', 'duplicated', 'reordered', 'corrupt', 'unsent', 'closed_early']) {
      if (report[count] > 0) faults.push(`${count}: ${report[count]} (${report.first_fault})`);
    }
    if (report.errors > 0) faults.push(`${report.errors} errors: ${report.first_error}`);
    if (report.acks !== report.sent) {
      faults.push(`${report.acks} of ${report.sent} messages are acknowledged`);
    }
    if (!http.ok) faults.push(`HTTP: ${JSON.stringify(http)}`);
  }

  #judgeServer({ unhandled, errors, slow_closed, queues }) {
    const faults = this.#faults.server;
    // Slow readers are given up, and the end of a wave may cut off an upload.
    const expected = { slow: slow_closed, bad_file: CONNECTIONS * this.#reports.length };
    if (unhandled > 0) faults.push(`${unhandled} unhandled events`);
    for (const [code, count] of Object.entries(errors)) {
      if (count > (expected[code] ?? 0)) faults.push(`error ${code}: ${count}`);
    }
    for (const [name, length] of Object.entries(queues)) {
      if (length > 0) faults.push(`${length} ${name} are still in their queue`);
    }
  }

  /** Under load the median is compared; at rest, after a garbage collection, each value is exact. */
  #judgeGrowth() {
    const [, second, , last] = this.#quarters;
    this.#grown('RSS under load', medianRss(second), medianRss(last));
    this.#grown('heap at rest', second.rest.heap_bytes, last.rest.heap_bytes);
    const [before, after] = [this.#start.descriptors, last.rest.descriptors];
    if (after > before) {
      this.#faults.growth.push(`${after} descriptors are open at the end, ${before} at the start`);
    }
  }

  #grown(what, before, after) {
    if (after <= before * (1 + MAX_GROWTH)) return;
    this.#faults.growth.push(`${what} grew from ${mib(before)} to ${mib(after)}`);
  }

  #summary({ slow_closed }) {
    const [, second, , last] = this.#quarters;
    const samples = this.#quarters.flatMap((quarter) => quarter.samples);
    const delays = samples.map(({ loop_delay_ms }) => loop_delay_ms);
    return [
      `${sum(this.#reports, 'delivered')} deliveries of ${sum(this.#reports, 'acks')} messages`,
      `${this.#reports.length} waves, ${this.#visits} visits, ${this.#requests} requests`,
      `${slow_closed} slow readers closed`,
      `RSS ${mib(medianRss(second))} → ${mib(medianRss(last))}`,
      `heap at rest ${mib(second.rest.heap_bytes)} → ${mib(last.rest.heap_bytes)}`,
      `descriptors ${this.#start.descriptors} → ${last.rest.descriptors}`,
      `longest loop delay of a second ${ms(median(delays))} (median), ${ms(Math.max(...delays))} at most`,
    ].join('; ');
  }
}

const medianRss = ({ samples }) => median(samples.map(({ rss_bytes }) => rss_bytes));

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

const sum = (reports, name) => reports.reduce((total, report) => total + report[name], 0);

const ms = (value) => `${value.toFixed(0)} ms`;

const mib = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
