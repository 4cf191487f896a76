/**
 * Sources that are read at an interval for as long as somebody asks for their values.
 *
 * A source has `read()`, which resolves to what went wrong, and `value()`, which throws {@link Away} once its last answer is too old to
 * count. A watch begins with the first call for a value, which waits for the first reading, or for two where one does not suffice. It
 * ends when nobody has asked for `IDLE_MS`: then no timer is left. While readings fail the last value is held; the log says when that
 * begins and when it is over.
 *
 * The watches own their sources and timers. Readings of one source never overlap.
 */
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A source that has no value that still counts; the message says why it does not answer. */
export class Away extends Error {}

/** More sources than are watched. */
export class Full extends Error {}

const IDLE_MS = 600_000;
/** Between the first two readings of a source, if the interval is longer. */
const FIRST_MS = 1000;
const MOST_SOURCES = 100;

/** Emits `read` after each reading, and `end` when there will be none. */
class Watch extends EventEmitter {
  source;
  /** Faults of the last reading. */
  faults = [];
  #ended = new AbortController();
  #askedAt;
  #started;
  #settings;

  constructor(source, settings) {
    super();
    this.setMaxListeners(0);
    this.source = source;
    this.#settings = settings;
    this.#askedAt = settings.now();
    this.#started = new Promise((resolve) => {
      this.once('started', resolve);
    });
    this.done = this.#run();
  }

  async value(trigger) {
    const { now } = this.#settings;
    this.#askedAt = now();
    await this.#started;
    try {
      return this.source.value(trigger, now());
    } catch (error) {
      if (!(error instanceof Away)) throw error;
      throw new Away(`${this.source.name} ${this.#since()}: ${error.message}`);
    }
  }

  /** Resolves when its timer and its source have ended. */
  stop() {
    this.#ended.abort();
    return this.done;
  }

  async #run() {
    const { intervalMs, now } = this.#settings;
    const { signal } = this.#ended;
    const pause = (ms) => sleep(ms, undefined, { signal }).catch(() => {});
    await this.#read();
    if (this.faults.length === 0 && this.source.needsAnother && !signal.aborted) {
      await pause(Math.min(FIRST_MS, intervalMs));
      await this.#read();
    }
    this.emit('started');
    while (!signal.aborted && now() - this.#askedAt < IDLE_MS) {
      await pause(intervalMs);
      if (!signal.aborted) await this.#read();
    }
    this.emit('end');
    await this.source.close();
  }

  async #read() {
    const { log, now, holdMs } = this.#settings;
    const before = this.faults.length;
    this.faults = await this.source.read(now);
    const { name } = this.source;
    const [first] = this.faults;
    if (first !== undefined && before === 0) {
      const more = this.faults.length > 1 ? ` (and ${this.faults.length - 1} more)` : '';
      log(`away: ${name}: ${first}${more}; what it said last counts for ${holdMs / 1000} s`);
    }
    if (first === undefined && before > 0) log(`back: ${name}`);
    this.emit('read');
  }

  #since() {
    const { answeredAt } = this.source;
    if (answeredAt === Number.NEGATIVE_INFINITY) return 'has not answered yet';
    const seconds = Math.round((this.#settings.now() - answeredAt) / 1000);
    return `has not answered for ${seconds} s, and its value counts for ${this.#settings.holdMs / 1000} s`;
  }
}

export class Watches {
  #open;
  #settings;
  #watches = new Map();

  /**
   * @param {object} settings
   * @param {(source: object) => object} settings.open makes the source that a trigger names
   * @param {number} settings.intervalMs between two readings
   * @param {number} settings.holdMs that the last answer counts
   * @param {() => number} settings.now a clock that never goes back, in ms
   * @param {(line: string) => void} settings.log
   */
  constructor({ open, ...settings }) {
    this.#open = open;
    this.#settings = settings;
  }

  /** The state of each: `{ name, faults, ageMs }`; the age is null before its first answer. */
  *states() {
    for (const { source, faults } of this.#watches.values()) {
      const { name, answeredAt } = source;
      const age = this.#settings.now() - answeredAt;
      yield { name, faults: faults.length, ageMs: Number.isFinite(age) ? age : null };
    }
  }

  /** The watch of a trigger's source; begins one where there is none. @throws {Full} and what `open` throws */
  of({ source }) {
    const key = JSON.stringify(source);
    const existing = this.#watches.get(key);
    if (existing !== undefined) return existing;
    if (this.#watches.size >= MOST_SOURCES) {
      throw new Full(`${MOST_SOURCES} sources are watched already; start another scaler`);
    }
    const watch = new Watch(this.#open(source), this.#settings);
    this.#watches.set(key, watch);
    watch.once('end', () => this.#watches.delete(key));
    return watch;
  }

  async close() {
    await Promise.all([...this.#watches.values()].map((watch) => watch.stop()));
  }
}
