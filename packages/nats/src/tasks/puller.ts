/**
 * Number of tasks that a worker asks for. Of each queue it wants as many as its threads run in 100 ms, so that they do not
 * wait for the broker, and no more, so that other workers get theirs and priorities are decided late. Of the queue `alone` it
 * wants one: a task that may end a process runs by itself, so that it is known which one did. Requests to a consumer are open
 * for some time and add up; what was asked for and has not come counts as wanted.
 */
import { clearInterval, performance, setInterval, setTimeout } from '@millrace/base/timers';
import { atTurnEnd, onceAt } from '@millrace/base/turn';
import type { Pool } from '@millrace/pool';
import type { Arrival, Link } from '../link.js';
import type { WorkerContext } from './context.js';
import type { Leases } from './leases.js';
import { type QueueName, queueNames } from './streams.js';

/** Gets each message, with the queue that it comes from. */
type OnMessage = (queue: QueueName, payload: Uint8Array, arrival: Arrival) => void;

/** The requests of a worker, to the consumers of all queues. */
export class Pullers {
  readonly #most: () => number;
  readonly #leases: Leases;
  readonly #pullers = new Map<QueueName, Puller>();
  /** The consumers are there. */
  isOpen = false;
  /** A consumer is missing, or not there yet. */
  onMissing: () => void = () => {};

  constructor(context: WorkerContext, pool: Pool, leases: Leases, onMessage: OnMessage) {
    const { link, names, settings } = context;
    const capacity = new Capacity(pool);
    this.#most = () => settings.batch ?? capacity.tasks;
    this.#leases = leases;
    for (const queue of queueNames) {
      const where = { stream: names.stream, consumer: queue, ackWaitMs: settings.ackWait };
      const puller = new Puller(link, where, (payload, arrival) => {
        // Even for one that is not kept: it has used up part of a request.
        this.refillSoon();
        onMessage(queue, payload, arrival);
      });
      puller.onMissing = () => this.onMissing();
      this.#pullers.set(queue, puller);
    }
  }

  start(): void {
    this.isOpen = true;
    this.#refill();
  }

  /** Stops asking; messages in transit still come. */
  stop(): void {
    this.isOpen = false;
    for (const puller of this.#pullers.values()) puller.stop();
  }

  /** Refills at the end of a turn in which tasks have ended. */
  readonly refillSoon = onceAt(atTurnEnd, () => this.#refill());

  #refill(): void {
    if (!this.isOpen) return;
    const most = this.#most();
    for (const [queue, puller] of this.#pullers) {
      puller.want(this.#leases.room(queue, queue === 'alone' ? 1 : most));
    }
  }
}

/** Work kept at hand, in ms, and the most tasks per place. */
const horizonMs = 100;
const perPlace = 512;
/** Looked at no more often than this: a pool's stats cost more than a small task. */
const lookMs = 20;

/** Tasks that a pool does in 100 ms; until it has been measured, two for each place. */
class Capacity {
  readonly #pool: Pool;
  readonly #concurrency: number;
  #tasks = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#concurrency = pool.options.concurrentTasksPerWorker as number;
  }

  get tasks(): number {
    const nowMs = performance.now();
    if (nowMs - this.#lookedMs < lookMs) return this.#tasks;
    const places = this.#pool.maxThreads * this.#concurrency;
    const { count, mean } = this.#pool.stats().runMs;
    // Until a task has been measured each look counts.
    if (count === 0) return 2 * places;
    const each = Math.ceil(horizonMs / Math.max(mean, 0.001));
    this.#lookedMs = nowMs;
    this.#tasks = places * Math.min(Math.max(each, 2), perPlace);
    return this.#tasks;
  }
}

/** Longest time in ms that the broker keeps a request. */
const maxExpiresMs = 30_000;
/** Time in ms after which a request counts as lost. */
const lostMs = 5000;
const retryMs = 500;

interface Request {
  left: number;
  readonly atMs: number;
}

/** Requests to one consumer. */
class Puller {
  readonly #link: Link;
  /**
   * Expiry of requests in ms, so that those of a worker that has ended are gone before its messages come back. Without other
   * workers, nats-server 2.9 would count them as delivered to it once more, and give out the last of them as if it had never
   * been.
   */
  readonly #expiresMs: number;
  readonly #api: string;
  readonly #inbox: string;
  readonly #onMessage: (payload: Uint8Array, arrival: Arrival) => void;
  readonly #unsubscribe: (drain?: 'drain') => void;
  readonly #requests = new Map<number, Request>();
  #next = 0;
  #wanted = 0;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  /** The consumer is missing, or not there yet. */
  onMissing: () => void = () => {};

  /** `ackWaitMs`: the consumer's time for acknowledgement, a third of which may pass without a word from a worker that is there. */
  constructor(
    link: Link,
    { stream, consumer, ackWaitMs }: { stream: string; consumer: string; ackWaitMs: number },
    onMessage: (payload: Uint8Array, arrival: Arrival) => void,
  ) {
    this.#link = link;
    this.#onMessage = onMessage;
    this.#expiresMs = Math.min(maxExpiresMs, ackWaitMs / 3);
    this.#api = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    this.#inbox = `${link.subject('inbox', link.node, consumer)}`;
    this.#unsubscribe = link.subscribe(`${this.#inbox}.*`, (payload, arrival) =>
      this.#arrived(payload, arrival),
    );
    link.on('up', this.#up);
  }

  /** Messages that were asked for and have not come. */
  get #asked(): number {
    let asked = 0;
    for (const { left } of this.#requests.values()) asked += left;
    return asked;
  }

  /** Sets the number of messages wanted now. A lower number cancels nothing that was requested. */
  want(count: number): void {
    this.#wanted = count;
    if (this.#isClosed || this.#link.state !== 'up') return;
    const more = count - this.#asked;
    // There is not one request for each message that is done with.
    if (more <= 0 || more < count / 4) return;
    const request = { batch: more, expires: Math.round(this.#expiresMs * 1_000_000) };
    const number = this.#next++;
    const reply = `${this.#inbox}.${number}`;
    // Also where this one does not go: the connection belongs to others, too, which may have filled it.
    this.#timer ??= setInterval(() => this.#sweep(), lostMs);
    if (!this.#link.publish(this.#api, Buffer.from(JSON.stringify(request)), { reply })) return;
    this.#requests.set(number, { left: more, atMs: performance.now() });
  }

  /** Asks for nothing more. Messages that are on their way still come: they have to be given back. */
  stop(): void {
    this.#isClosed = true;
    this.#wanted = 0;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#link.off('up', this.#up);
    this.#unsubscribe('drain');
  }

  readonly #up = () => {
    // Requests were lost with the connection.
    this.#requests.clear();
    this.want(this.#wanted);
  };

  #arrived(payload: Uint8Array, arrival: Arrival): void {
    const code = arrival.headers?.code ?? 0;
    if (code >= 400 && payload.length === 0) {
      const number = Number(arrival.subject.slice(this.#inbox.length + 1));
      if (!this.#requests.delete(number)) return;
      // 404 and 408: the request has ended, as it does. Others: the consumer is not there.
      if (code === 408 || code === 404) this.want(this.#wanted);
      else {
        this.onMissing();
        setTimeout(() => this.want(this.#wanted), retryMs).unref();
      }
      return;
    }
    // The message has the subject of its task: requests are answered in order.
    for (const [number, request] of this.#requests) {
      if (--request.left === 0) this.#requests.delete(number);
      break;
    }
    this.#onMessage(payload, arrival);
  }

  #sweep(): void {
    const before = performance.now() - this.#expiresMs - lostMs;
    for (const [number, { atMs }] of this.#requests)
      if (atMs < before) this.#requests.delete(number);
    this.want(this.#wanted);
  }
}
