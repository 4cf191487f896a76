import { EventEmitter, once } from 'node:events';
import { NAMES, SERVERS } from '../servers/index.js';
import { FIRST_LOAD, LEASE_MS, SLOT_MS } from '../settings.js';
import { startServer } from './server.js';
import { summarize } from './summary.js';

/** A point of the charts is over so many slots; the charts show so many points. */
const POINT_SLOTS = 2;
const POINTS = 60;

const FIELDS = ['fresh', 'copies', 'late', 'shed', 'failed', 'p50', 'p99', 'healthP99'];

/**
 * Turns of the servers under load: one server at a time, a chosen one or each in turn. It is started for its turn, and is
 * the only one: servers that share a few cores would distort each other's figures.
 *
 * Emits 'settings' when load, target or the server under load changes, and 'point' (name) with each new figure.
 */
export class Show extends EventEmitter {
  load = 0;
  target = 'turns';
  current = null;
  /** Counts the changes of these three. */
  version = 0;
  /** Results by name: `points` for the charts, `summary` of the last turn and the `load` it had. */
  results = Object.fromEntries(
    NAMES.map((name) => [name, { points: [], summary: null, load: null, seconds: 0 }]),
  );

  #iterations;
  #generator;
  #capacity;
  #seed;
  #leaseMs;
  #connections;
  #turnSlots;
  #slots = [];
  #last = NAMES.at(-1);
  #watchers = 0;
  /** True once somebody has chosen a load, 0 included. Until then the first watcher begins the show. */
  #isChosen = false;
  #renewing;
  #closed = false;

  constructor({ iterations, generator, capacity, turn, seed, connections, leaseMs = LEASE_MS }) {
    super();
    this.#iterations = iterations;
    this.#generator = generator;
    this.#capacity = capacity;
    this.#seed = seed;
    this.#leaseMs = leaseMs;
    this.#connections = connections;
    this.#turnSlots = Math.round((turn * 1000) / SLOT_MS);
    generator.on('slot', (slot) => this.#take(slot));
    // Nobody has watched for a while.
    generator.on('idle', () => {
      this.set({ load: 0 });
      this.#isChosen = false;
    });
    this.#renewing = setInterval(() => {
      if (this.#watchers > 0 && generator.isDriving) generator.goOn();
    }, leaseMs / 10);
  }

  /** Runs until it is closed. Rejects if a server does not start again. */
  async run() {
    while (!this.#closed) {
      if (this.load === 0) await once(this, 'settings');
      else await this.#turn(this.target === 'turns' ? following(this.#last) : this.target);
    }
  }

  /** @param {{ load?: number, target?: string }} settings */
  set({ load = this.load, target = this.target }) {
    this.#isChosen = true;
    const isOtherLoad = load !== this.load;
    this.load = load;
    this.target = target;
    if (this.current !== null) {
      if (!this.#isWanted(this.current)) this.#endTurn();
      else if (isOtherLoad) {
        this.#slots = [];
        this.#generator.goOn(this.#rate);
      }
    }
    this.#announce();
  }

  /**
   * Begins the show for the first watcher, unless somebody has chosen a load. The load goes on as long as somebody watches.
   *
   * @returns {() => void} call it at the end
   */
  watch() {
    this.#watchers += 1;
    if (!this.#isChosen) this.set({ load: FIRST_LOAD });
    return () => {
      this.#watchers -= 1;
    };
  }

  close() {
    this.#closed = true;
    clearInterval(this.#renewing);
    this.#endTurn();
    this.#announce();
  }

  get #rate() {
    return this.load * this.#capacity;
  }

  #isWanted(name) {
    return this.load > 0 && (this.target === 'turns' || this.target === name) && !this.#closed;
  }

  #announce() {
    this.version += 1;
    this.emit('settings');
  }

  #endTurn() {
    this.emit('turn over');
  }

  async #turn(name) {
    const server = await startServer(name, this.#iterations);
    // It took a while.
    if (this.#isWanted(name)) await this.#drive(name, server);
    await server.end();
  }

  /** Ends with the turn, or with the server. */
  async #drive(name, { port, exited }) {
    this.#last = name;
    this.#slots = [];
    this.current = name;
    this.#generator.drive({
      port,
      rate: this.#rate,
      connections: this.#connections,
      seed: this.#seed,
      leaseMs: this.#leaseMs,
    });
    const over = once(this, 'turn over');
    this.#addPoint(name);
    this.#announce();
    await Promise.race([over, exited]);
    this.#generator.stop();
    this.current = null;
    this.#announce();
  }

  #take(slot) {
    const result = this.results[this.current];
    this.#slots = [...this.#slots, slot].slice(-this.#turnSlots);
    result.seconds += slot.seconds;
    result.load = this.load;
    const server = { ...SERVERS[NAMES.indexOf(this.current)], capacity: this.#capacity };
    result.summary = summarize(this.#slots, server);
    this.#addPoint(this.current, summarize(this.#slots.slice(-POINT_SLOTS), server));
    if (this.target === 'turns' && this.#slots.length === this.#turnSlots) this.#endTurn();
  }

  /** @param {object} [summary] none: a gap between two turns */
  #addPoint(name, summary) {
    const { points, seconds } = this.results[name];
    const figures = FIELDS.map((field) => [field, summary ? summary[field] : null]);
    points.push({ t: seconds, ...Object.fromEntries(figures) });
    points.splice(0, points.length - POINTS);
    this.emit('point', name);
  }
}

const following = (name) => NAMES[(NAMES.indexOf(name) + 1) % NAMES.length];
