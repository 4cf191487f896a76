/**
 * What `millrace-worker` does to a stream beside working on it: shows the lag and the dead letters, and turns dead letters into tasks
 * again. The stream has to exist: nothing is created here.
 */
import { print, Refusal } from '@millrace/base/command';
import { parseValue } from '@millrace/base/options';
import type { StoredMsg } from '../client-types.js';
import { Link } from '../link.js';
import type { BrokerOptions } from '../options.js';
import { streamField, streamSettings } from '../tasks/options.js';
import { Publisher } from '../tasks/publisher.js';
import { decodeTask } from '../tasks/record.js';
import {
  headerNames,
  lagOf,
  type QueueLag,
  queueNames,
  type TaskLag,
  TaskNames,
} from '../tasks/streams.js';
import { decodeBatch } from '../wire.js';

const storeMs = 30_000;

/** A task that is not tried any more. */
interface DeadLetter {
  /** Its number in the stream of dead letters. */
  readonly sequence: number;
  /** When it became one, by the broker's clock. */
  readonly at: string;
  /** Of its task; empty if it cannot be read. */
  readonly id: string;
  readonly name: string;
  readonly priority: string;
  /** `failed` too often, `worker` ended each time that it ran alone, `unreadable`. */
  readonly reason: string;
  readonly error: string;
  readonly deliveries: number;
}

export class Operator {
  readonly #link: Link;
  readonly #names: TaskNames;

  /** Throws MILLRACE_E_INVALID_OPTION. */
  constructor(broker: string | BrokerOptions, stream: string) {
    const { name } = streamSettings(parseValue('Operator', 'stream', stream, streamField));
    this.#link = new Link(broker, 'tasks');
    this.#names = new TaskNames(this.#link, name);
  }

  lag(): Promise<TaskLag> {
    return lagOf(this.#link, this.#names);
  }

  /** The dead letters, the oldest first. */
  async *dead(): AsyncGenerator<DeadLetter> {
    for await (const message of this.#messages()) yield letterOf(message);
  }

  /**
   * Puts dead letters back into their stream, as tasks that have never failed, and removes them; resolves to their number.
   * Those that cannot be read stay. If this process ends between putting one back and removing it, that one is not put back
   * again within the stream's `duplicateWindow`.
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

/** Prints the lag or the dead letters, or makes tasks of them again. Rejects with a Refusal when there is no such stream. */
export async function operate(
  what: string,
  broker: string | BrokerOptions,
  stream: string,
  isJson: boolean,
): Promise<void> {
  const operator = new Operator(broker, stream);
  try {
    if (what === 'lag') await printLag(operator, isJson);
    else if (what === 'dead') await printDead(operator, isJson);
    else {
      const count = await operator.retryDead();
      print(
        isJson
          ? JSON.stringify({ retried: count })
          : `${count} dead letter${count === 1 ? ' is a task' : 's are tasks'} again`,
      );
    }
  } catch (error) {
    if (!/stream not found/.test((error as Error).message)) throw error;
    throw new Refusal(
      `there is no stream ${stream} of tasks; the first client or worker creates it.`,
    );
  } finally {
    await operator.close();
  }
}

async function printLag(operator: Operator, isJson: boolean): Promise<void> {
  const lag = await operator.lag();
  if (isJson) {
    print(JSON.stringify(lag));
    return;
  }
  const { dead, ...queues } = lag;
  const row = (...cells: unknown[]) => cells.map((cell) => String(cell).padStart(16)).join('');
  print(`priority${row('pending', 'unacknowledged', 'redelivered')}`);
  for (const [name, queue] of Object.entries(queues) as [string, QueueLag][]) {
    const { pending, unacknowledged, redelivered } = queue;
    print(`${name.padEnd(8)}${row(pending, unacknowledged, redelivered)}`);
  }
  print(`dead letters: ${dead}`);
}

async function printDead(operator: Operator, isJson: boolean): Promise<void> {
  let count = 0;
  for await (const letter of operator.dead()) {
    count++;
    if (isJson) print(JSON.stringify(letter));
    else {
      const { at, reason, id, name, deliveries, error } = letter;
      print(
        `${at} ${reason}: ${id} ${name === '' ? '' : `(${name}) `}after ${deliveries}: ${error}`,
      );
    }
  }
  if (!isJson) print(`dead letters: ${count}`);
}
