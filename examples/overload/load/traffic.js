import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { HEALTH_EVERY_MS, KINDS, MAX_CONNECTIONS, PATIENCE_MS } from '../settings.js';
import { gap, pick, seeded } from './random.js';
import { Slot } from './slot.js';

const SHARES = KINDS.map(({ share }) => share);
const HEALTH = { method: 'GET', path: '/health' };

/** The requests to one server, until it is ended. */
export class Traffic {
  #port;
  #random;
  #patienceMs;
  #agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS, maxFreeSockets: Infinity });
  /** Of its own, so that /health never waits for a connection here: what it shows is the server's doing. */
  #healthAgent = new Agent({ keepAlive: true, maxSockets: 100 });
  #slot = new Slot();
  #slotStart = performance.now();
  #timers = {};
  #underWay = new Set();
  #ended = false;

  /** @param {number} [patienceMs] time for an answer; then the request has failed */
  constructor(port, seed, patienceMs = PATIENCE_MS) {
    this.#port = port;
    this.#patienceMs = patienceMs;
    this.#random = seeded(seed);
    this.#every('health', performance.now(), HEALTH_EVERY_MS, (due) => {
      this.#send(HEALTH, this.#healthAgent, due, (answer, ms) =>
        this.#slot.countHealth(answer, ms),
      );
    });
  }

  /** Open loop: so many requests a second, each at its own time, whether or not earlier ones are answered. */
  arrive(rate) {
    clearTimeout(this.#timers.arrivals);
    if (rate === 0) return;
    const gapMs = () => gap(this.#random, rate / 1000);
    this.#every('arrivals', performance.now() + gapMs(), gapMs, (due) => this.#ask(due));
  }

  /**
   * Prepares what was there before the load: connections, and an answer of each kind, so that a cache has a copy. Requests
   * take a connection that is idle; where none is, they open another.
   */
  async prepare(connections) {
    const ask = (what) =>
      new Promise((answered) => this.#send(what, this.#agent, performance.now(), answered));
    await Promise.all(Array.from({ length: connections }, () => ask(HEALTH)));
    for (const kind of KINDS) await ask(kind);
    this.takeSlot();
  }

  /** Closed loop: each of so many clients asks again as soon as it has its answer. */
  repeat(clients) {
    for (let n = 0; n < clients; n += 1) this.#askAgain();
  }

  /** Events since the last call. */
  takeSlot() {
    const now = performance.now();
    const slot = this.#slot;
    slot.seconds = (now - this.#slotStart) / 1000;
    this.#slot = new Slot();
    this.#slotStart = now;
    return slot;
  }

  /** Hangs up on all that is under way. */
  end() {
    this.#ended = true;
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    // Not left to the agents: they would open connections for the requests that still wait for one.
    for (const { sent, patience } of this.#underWay) {
      clearTimeout(patience);
      sent.destroy();
    }
    this.#agent.destroy();
    this.#healthAgent.destroy();
  }

  /** Calls at each due time, late rather than never: what is late is part of the latency. */
  #every(timer, first, step, call) {
    let due = first;
    const tick = () => {
      for (const now = performance.now(); due <= now; ) {
        call(due);
        due += typeof step === 'function' ? step() : step;
      }
      this.#timers[timer] = setTimeout(tick, due - performance.now());
    };
    this.#timers[timer] = setTimeout(tick, due - performance.now());
  }

  #askAgain() {
    if (this.#ended) return;
    // Not in the same tick: a server that is gone would make this a loop without end.
    this.#ask(performance.now(), () => setImmediate(() => this.#askAgain()));
  }

  /** A request that was due then; its latency counts from there. */
  #ask(due, done) {
    const kind = pick(this.#random, SHARES);
    this.#slot.offered[kind] += 1;
    this.#send(KINDS[kind], this.#agent, due, (answer, ms) => {
      this.#slot.count(kind, answer, ms);
      done?.();
    });
  }

  #send({ method, path }, agent, due, ended) {
    const sent = request({ host: '127.0.0.1', port: this.#port, method, path, agent });
    const over = (answer) => {
      clearTimeout(exchange.patience);
      if (this.#underWay.delete(exchange) && !this.#ended) ended(answer, performance.now() - due);
    };
    const giveUp = () => {
      over();
      sent.destroy();
    };
    const exchange = { sent, patience: setTimeout(giveUp, this.#patienceMs) };
    this.#underWay.add(exchange);
    sent.on('error', () => over());
    sent.on('response', (response) => {
      const answer = { status: response.statusCode, age: response.headers.age };
      response.on('end', () => over(answer));
      response.on('close', () => over());
      response.resume();
    });
    sent.end();
  }
}
