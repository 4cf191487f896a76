/**
 * The operator of a stream of durable tasks: shows the lag and the dead letters, and turns dead letters into tasks again. It runs
 * no task and creates nothing: the first client or worker creates the stream.
 */
import { parseValue } from '@millrace/base/options';
import type { StoredMsg } from '../client-types.js';
import { Link } from '../link.js';
import type { BrokerOptions } from '../options.js';
import { decodeBatch } from '../wire.js';
import { streamField, streamSettings } from './options.js';
import { Publisher } from './publisher.js';
import { decodeTask } from './record.js';
import { headerNames, lagOf, queueNames, type TaskLag, TaskNames } from './streams.js';

const storeMs = 30_000;

/** Task that is not retried any more. */
export interface DeadLetter {
  /** Number in the stream of dead letters. */
  readonly sequence: number;
  /** Time at which it became a dead letter, by the broker's clock. */
  readonly at: string;
  /** Id of its task; empty if it cannot be read. */
  readonly id: string;
  readonly name: string;
  readonly priority: string;
  /** Reason: `failed` too often; `worker`: its worker ended each time that it ran alone; `unreadable`. */
  readonly reason: string;
  readonly error: string;
  readonly deliveries: number;
}

/**
 * Reads the lag and the dead letters of a stream of durable tasks, for a scaler, a page or a script. Connects at once, and keeps
 * the process alive until it is closed.
 *
 *     const operator = new TaskOperator('nats://127.0.0.1:4222', 'thumbnails');
 *     const lag = await operator.lag(); // lag.high.pending: messages that no worker has yet
 *     await operator.close();
 */
export class TaskOperator {
  readonly #link: Link;
  readonly #names: TaskNames;

  /**
   * @param broker URL, or options of the connection
   * @param stream name of the stream, as its clients and workers give it
   * @throws MILLRACE_E_INVALID_OPTION
   */
  constructor(broker: string | BrokerOptions, stream: string) {
    const { name } = streamSettings(parseValue('TaskOperator', 'stream', stream, streamField));
    this.#link = new Link(broker, 'tasks');
    this.#names = new TaskNames(this.#link, name);
  }

  /**
   * Returns the work that is left, by one request to the broker per queue. Rejects with MILLRACE_E_BROKER when the broker is
   * away, and with the broker's error when there is no such stream.
   */
  lag(): Promise<TaskLag> {
    return lagOf(this.#link, this.#names);
  }

  /** Yields the dead letters, the oldest first. Rejects as `lag()`. */
  async *dead(): AsyncGenerator<DeadLetter> {
    for await (const message of this.#messages()) yield letterOf(message);
  }

  /**
   * Moves dead letters back into their stream, as tasks that have never failed; resolves to their number. A letter that
   * cannot be read stays. If this process ends between putting one back and removing it, that one is not put back again
   * within the stream's `duplicateWindow`. Rejects as `lag()`.
   */
  async retryDead(): Promise<number> {
    const publisher = new Publisher(await this.#link.ready(), storeMs);
    await publisher.open();
    try {
      return await this.#retryBy(publisher);
    } finally {
      publisher.close();
    }
  }

  /** Ends the connection. Idempotent. */
  close(): Promise<void> {
    return this.#link.close();
  }

  async #retryBy(publisher: Publisher): Promise<number> {
    const names = this.#names;
    const { jsm } = await this.#link.jetstream();
    let count = 0;
    for await (const message of this.#messages()) {
      if (message.header.get(headerNames.reason) === 'unreadable') continue;
      const queue = queueNames.find((each) => names.dead(each) === message.subject);
      if (queue === undefined) continue;
      await publisher.store(names.subject(queue), message.data, {
        [headerNames.id]: `dead:${message.seq}.${message.time.toISOString()}`,
      });
      await jsm.streams.deleteMessage(names.deadStream, message.seq, false);
      count++;
    }
    return count;
  }

  /** Messages of the stream of dead letters, up to the last one of now. */
  async *#messages(): AsyncGenerator<StoredMsg> {
    const { deadStream } = this.#names;
    const { jsm } = await this.#link.jetstream();
    const { first_seq, last_seq } = (await jsm.streams.info(deadStream)).state;
    for (let seq = first_seq; seq <= last_seq; ) {
      const query = { seq, next_by_subj: '>' } as { seq: number };
      const message = await jsm.streams.getMessage(deadStream, query);
      if (message === null || message.seq > last_seq) return;
      yield message;
      seq = message.seq + 1;
    }
  }
}

function letterOf({ seq, time, subject, header, data }: StoredMsg): DeadLetter {
  let task = { id: '', name: '' };
  try {
    task = decodeTask(decodeBatch(data)!.records[0]!);
  } catch {
    // It stays there, as unreadable.
  }
  return {
    sequence: seq,
    at: time.toISOString(),
    id: task.id,
    name: task.name,
    priority: subject.slice(subject.lastIndexOf('.') + 1),
    reason: header.get(headerNames.reason),
    error: header.get(headerNames.error),
    deliveries: Number(header.get(headerNames.deliveries)),
  };
}
