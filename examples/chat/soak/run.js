/**
 * Runs a soak from the beginning to the end.
 *
 * A cycle: people and programs use the service all the time; at its moment a fault is injected, and the service has to be whole again; then
 * comes a wave of the load generator, which checks each delivery; then everybody leaves, and at rest memory is measured, in some cycles
 * descriptors and handles, too. A run only records; `outcome.js` judges.
 */
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostRecord } from '@millrace/lab/experiment';
import { runLoad } from '@millrace/lab/load';
import { randomFrom } from '@millrace/lab/stats';
import { faultsOfSaved } from './ledger.js';
import { outcome, warmUpOf } from './outcome.js';
import { PLANS, schedule } from './plan.js';
import { POST_ROOM, post } from './posters.js';
import { rssOf } from './proc.js';
import { READERS_ROOM } from './readers.js';
import { untilWhole, WHOLE_ROOM } from './recovery.js';
import { Service } from './service.js';
import { TALK_ROOMS, Talker } from './talkers.js';

const PEOPLE = 48;
const SAMPLE_MS = 2_000;
/** Tries of a wave to get in. */
const TRIES = 10;

/** Shares of a cycle: people talk in the first one; the wave begins after the second at the earliest, and has the third. */
const TALK = 0.8;
const WAVE_FROM = 0.4;
const WAVE = 0.35;

const LOAD = { protocol: 'chat', mode: 'open', pattern: 'mixed', warmup: 0 };
const WAVES = [
  { connections: 60, rooms: 6, rate: 100, payload: 150, slowReaders: 3 },
  { connections: 40, rooms: 20, rate: 80, payload: 400, users: 'blend' },
  { connections: 20, rooms: 1, rate: 60, payload: 3900 },
];

/**
 * Runs a soak and judges it.
 *
 * @param {object} options
 * @param {keyof PLANS} options.plan
 * @param {number} options.seconds
 * @param {number} options.every seconds from one fault to the next
 * @param {number} options.seed
 * @param {(record: object) => void} options.keep is given all that is measured, as it comes
 * @param {AbortSignal} [options.signal] ends it early, with its reason
 */
export async function soakResult({ plan, seconds, every, seed, keep, signal }) {
  const planned = PLANS[plan];
  const host = hostRecord();
  const date = new Date().toISOString();
  const from = performance.now();
  const dir = await mkdtemp(join(tmpdir(), 'millrace-soak-'));
  let service;
  try {
    service = await Service.start(dir, { processes: planned.processes });
    const found = await new Run(service, planned, { seconds, every, seed, keep, signal }).toEnd();
    const stop = await service.stop();
    const saved = await faultsInDatabase(service, found.waves);
    const { acknowledged, counts, faults } = service.ledger;
    const ledger = { acknowledged: acknowledged.size, counts, faults };
    const said = service.unexpected;
    const isFaulty = planned.faults.length > 0;
    const judged = outcome({ seconds, seed, isFaulty, found, ledger, saved, stop, said });
    const { word, criteria, growth } = judged;
    const tookS = (performance.now() - from) / 1000;
    keep({ type: 'result', date, plan, seconds, every, seed, tookS, host, word, criteria, counts });
    return {
      ...{ date, plan, seconds, every, seed, tookS, host, word, criteria, growth, found, counts },
      warmUpS: warmUpOf(seconds),
    };
  } finally {
    await service?.stop();
    await service?.remove();
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * @typedef {object} Found
 * @property {object[]} faults each with `name`, `title`, `atS`, `what`, `wholeAfterS`, `failed`
 * @property {object[]} rests each with `atS` and `vitals` by process, and `counts` where it was a long one
 * @property {object[]} samples under load
 * @property {object[]} waves
 * @property {string[]} server what was wrong on the server's side
 */
class Run {
  #service;
  #plan;
  #options;
  #random;
  #from = performance.now();
  #found = { faults: [], rests: [], samples: [], waves: [], server: [] };
  #wanted;

  constructor(service, plan, options) {
    this.#service = service;
    this.#plan = plan;
    this.#options = options;
    this.#random = randomFrom(options.seed + 1);
  }

  async toEnd() {
    const { every, signal } = this.#options;
    // The room that HTTP posts to is there once somebody has been in it.
    await untilWhole(this.#service);
    await this.#openRoom();
    const end = new AbortController();
    const sampling = this.#sample(end.signal);
    try {
      this.#from = performance.now();
      for (const [i, due] of schedule(this.#plan, this.#options).entries()) {
        await sleep(Math.max(0, i * every * 1000 - (performance.now() - this.#from)), undefined, {
          signal,
        });
        await this.#cycle(i, due);
        signal?.throwIfAborted();
      }
    } finally {
      end.abort();
      await sampling;
    }
    await this.#judgeServer();
    return this.#found;
  }

  async #cycle(i, due) {
    const { every, signal } = this.#options;
    const { ledger } = this.#service;
    const begin = performance.now();
    const before = ledger.acknowledged.size;
    const end = new AbortController();
    setMaxListeners(0, end.signal);
    const people = Array.from({ length: PEOPLE }, (_, index) =>
      new Talker(this.#service, { index: i * PEOPLE + index, random: this.#random }).live(
        end.signal,
      ),
    );
    const load = Promise.all([
      ...people,
      post(this.#service, end.signal),
      post(this.#service, end.signal),
    ]);
    load.catch(() => {});
    let told;
    let wave;
    try {
      await sleep(due.afterS * 1000, undefined, { signal });
      if (due.fault) told = await this.#fault(due);
      const waveAt = begin + WAVE_FROM * every * 1000;
      await sleep(Math.max(0, waveAt - performance.now()), undefined, { signal });
      wave = await this.#wave(WAVES[i % WAVES.length], WAVE * every);
      await sleep(Math.max(0, begin + TALK * every * 1000 - performance.now()), undefined, {
        signal,
      });
    } finally {
      end.abort();
      await load;
    }
    const rest = await this.#rest(due.hasLongRest);
    this.#keep({
      type: 'cycle',
      cycle: i + 1,
      ...{ fault: told, wave, rest, acknowledged: ledger.acknowledged.size - before },
    });
  }

  async #fault(due) {
    const { name, title, inject, holds } = due.fault;
    const { disturbances, ledger } = this.#service;
    const before = { ...ledger.counts };
    const atS = this.#now();
    const end = disturbances.begin();
    const told = {
      ...{ name, title, atS },
      ...{ what: null, wholeAfterS: null, failed: null },
    };
    const from = performance.now();
    try {
      told.what = await inject(this.#service, due);
      await untilWhole(this.#service);
      holds?.(this.#service, before);
      told.wholeAfterS = (performance.now() - from) / 1000;
    } catch (error) {
      told.failed = error.message;
    }
    // What was on its way then is answered a little later.
    end(performance.now() + 1000);
    this.#found.faults.push(told);
    this.#keep({ type: 'fault', ...told });
    return told;
  }

  async #wave(load, seconds) {
    await sleep(1000);
    const { port } = new URL(this.#service.url);
    const wave = { type: 'wave', atS: this.#now(), seconds, tries: 0, failed: null };
    for (let isIn = false; !isIn && wave.tries < TRIES; wave.tries++) {
      try {
        const options = { ...LOAD, ...load, seconds: Math.max(1, seconds), port: Number(port) };
        const report = await runLoad(options);
        const { acks, sent, delivered } = report;
        Object.assign(wave, { acks, sent, delivered, failed: whyBad(report) });
        isIn = true;
      } catch (error) {
        wave.failed = error.message;
        // The guard turned a connection away: the wave has not begun.
        if (error.code !== 'MILLRACE_LAB_E_CONNECT') break;
        await sleep(1000);
      }
    }
    this.#found.waves.push(wave);
    this.#keep(wave);
    return wave;
  }

  async #rest(isLong) {
    const service = this.#service;
    if (!(await service.left()))
      this.#found.server.push(`${this.#at()}: people have left, and some are still counted`);
    for (const { errors, unhandled, queues } of await service.stats()) {
      for (const [code, count] of Object.entries(errors)) {
        if (!EXPECTED.has(code)) this.#found.server.push(`${this.#at()}: error ${code}: ${count}`);
      }
      if (unhandled > 0) this.#found.server.push(`${this.#at()}: ${unhandled} unhandled events`);
      for (const [name, length] of Object.entries(queues)) {
        if (length > 0)
          this.#found.server.push(`${this.#at()}: ${length} ${name} are still in their queue`);
      }
    }
    const rest = { type: 'rest', atS: this.#now() };
    if (isLong) {
      rest.counts = await service.countsAtRest(this.#wanted);
      this.#wanted ??= rest.counts;
    }
    rest.vitals = await service.vitals({ collect: true });
    this.#found.rests.push(rest);
    this.#keep(rest);
    return rest;
  }

  async #sample(signal) {
    while (!signal.aborted) {
      try {
        const { bySlot } = await this.#service.processes();
        const vitals = await this.#service.vitals({});
        const sample = {
          type: 'sample',
          atS: this.#now(),
          rss: Object.fromEntries(Object.entries(vitals).map(([who, { rss }]) => [who, rss])),
          loopDelayMs: Object.fromEntries(
            Object.entries(vitals).map(([who, { loopDelayMs }]) => [who, loopDelayMs]),
          ),
          brokerRss: this.#service.broker ? rssOf(this.#service.broker.pid) : null,
          processes: bySlot.size,
        };
        this.#found.samples.push(sample);
        this.#keep(sample);
      } catch {
        // A fault has just taken what was asked.
      }
      await sleep(SAMPLE_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Deaths that nobody had planned, and what was said that nobody expects. */
  async #judgeServer() {
    const { server } = this.#found;
    const { deaths } = await this.#service.processes();
    for (const { slot, pid, code, signal } of deaths) {
      if (!this.#service.killed.has(pid))
        server.push(`process ${slot} (${pid}) ended with ${code ?? signal}`);
    }
    if (!this.#service.watcher.isOpen) server.push('the dashboard closed its stream');
  }

  async #openRoom() {
    const one = { index: 0, random: this.#random, room: POST_ROOM };
    await new Talker(this.#service, one).live(AbortSignal.timeout(1000));
  }

  #now() {
    return (performance.now() - this.#from) / 1000;
  }

  #at() {
    return `${Math.round(this.#now())} s`;
  }

  #keep(record) {
    this.#options.keep(record);
  }
}

/** Faults of the database's content in the end. @returns {Promise<string[]>} */
function faultsInDatabase({ databaseUrl, ledger }, waves) {
  return faultsOfSaved(databaseUrl, {
    rooms: Math.max(...WAVES.map(({ rooms }) => rooms)),
    acks: waves.reduce((sum, { acks = 0 }) => sum + acks, 0),
    acknowledged: ledger.acknowledged,
    others: [...TALK_ROOMS, POST_ROOM, READERS_ROOM, WHOLE_ROOM],
  });
}

/** Slow readers are given up. */
const EXPECTED = new Set(['slow']);

function whyBad(report) {
  const faults = ['lost', 'duplicated', 'reordered', 'corrupt', 'unsent', 'closed_early']
    .filter((count) => report[count] > 0)
    .map((count) => `${count}: ${report[count]} (${report.first_fault})`);
  if (report.errors > 0) faults.push(`${report.errors} errors: ${report.first_error}`);
  if (report.acks !== report.sent) faults.push(`${report.acks} of ${report.sent} are acknowledged`);
  return faults.length > 0 ? faults.join('; ') : null;
}
