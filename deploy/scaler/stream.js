/**
 * The depth of a stream of durable tasks: messages that no worker has yet, and those that one works on, by priority. Each message has
 * one task, or a pack of short ones. Tasks that were with a worker when it ended count for all priorities together only. The last
 * answer of the broker counts for `holdMs`.
 */
import { TaskOperator } from '@millrace/nats/tasks';
import { Away } from './watch.js';

export class Stream {
  #operator;
  #stream;
  #holdMs;
  #lag = null;
  #fault = 'the broker was not asked yet';
  answeredAt = Number.NEGATIVE_INFINITY;
  needsAnother = false;

  /** @param {{ broker: object, stream: string, holdMs: number }} options @throws {Error} for a broker that is none */
  constructor({ broker, stream, holdMs }) {
    this.#operator = new TaskOperator(broker, stream);
    this.#stream = stream;
    this.#holdMs = holdMs;
  }

  get name() {
    return `tasks of ${this.#stream}`;
  }

  /** Asks the broker. @param {() => number} now in ms @returns {Promise<string[]>} what went wrong */
  async read(now) {
    try {
      this.#lag = await this.#operator.lag();
      this.answeredAt = now();
      this.#fault = 'it was not asked since';
      return [];
    } catch ({ message }) {
      this.#fault = /stream not found/.test(message)
        ? `there is no stream ${this.#stream} of tasks; the first client or worker creates it`
        : message;
      return [this.#fault];
    }
  }

  /** @returns {{ each: number, total: number }} both the depth @throws {Away} without an answer within `holdMs` */
  value({ priority }, now) {
    if (this.answeredAt < now - this.#holdMs) throw new Away(this.#fault);
    const { high, normal, low, alone } = this.#lag;
    const queues = priority === 'all' ? [high, normal, low, alone] : [this.#lag[priority]];
    const depth = queues.reduce((sum, queue) => sum + queue.pending + queue.unacknowledged, 0);
    return { each: depth, total: depth };
  }

  async close() {
    await this.#operator.close();
  }
}
