/** Asks a consumer for messages, as many as are wanted. */
import type { Arrival, Link } from '../../broker/link.js';
import { clearInterval, performance, setInterval, setTimeout } from '../../core/timers.cjs';

/** How long the broker keeps a request at the most. */
const mostExpiresMs = 30_000;
/** After this it is taken for lost. */
const lostMs = 5000;
const retryMs = 500;

interface Request {
  left: number;
  readonly atMs: number;
}

/** Messages of one consumer. */
export class Puller {
  readonly #link: Link;
  /**
   * So that the requests of a worker that has ended are gone before its messages come back. Where nobody else asks, nats-server
   * 2.9 would count them as delivered to it once more, and give out the last of them as if it had never been.
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
    this.#expiresMs = Math.min(mostExpiresMs, ackWaitMs / 3);
    this.#api = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    this.#inbox = `${link.subject('inbox', link.node, consumer)}`;
    this.#unsubscribe = link.subscribe(`${this.#inbox}.*`, (payload, arrival) =>
      this.#arrived(payload, arrival),
    );
    link.on('up', this.#up);
  }

  /** Messages that were asked for and have not come. */
  get asked(): number {
    let asked = 0;
    for (const { left } of this.#requests.values()) asked += left;
    return asked;
  }

  /** How many messages are welcome now. A lower number takes nothing back that was asked for. */
  want(count: number): void {
    this.#wanted = count;
    if (this.#isClosed || this.#link.state !== 'up') return;
    const more = count - this.asked;
    // There is not one request for each message that is done with.
    if (more <= 0 || more < count / 4) return;
    const request = { batch: more, expires: Math.round(this.#expiresMs * 1_000_000) };
    const number = this.#next++;
    const reply = `${this.#inbox}.${number}`;
    if (!this.#link.publish(this.#api, Buffer.from(JSON.stringify(request)), { reply })) return;
    this.#requests.set(number, { left: more, atMs: performance.now() });
    this.#timer ??= setInterval(() => this.#sweep(), lostMs);
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
    // What was asked for was lost with the connection.
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
