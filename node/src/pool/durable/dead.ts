/** Tasks that are not tried any more. */
import type { StoredMsg } from '../../broker/client-types.js';
import type { Link } from '../../broker/link.js';
import { decodeBatch } from '../../broker/wire.js';
import { headerNames, lanes, type TaskNames } from './names.js';
import type { Publisher } from './publisher.js';
import { decodeTask } from './record.js';

/** A dead letter. */
export interface DeadLetter {
  /** Its number in the stream of dead letters. */
  readonly sequence: number;
  /** When it became one, by the broker's clock. */
  readonly at: string;
  /** Of its task; empty for what cannot be read. */
  readonly id: string;
  readonly name: string;
  readonly priority: string;
  /** `failed` too often, `worker` ended each time that it ran alone, `unreadable`. */
  readonly reason: string;
  readonly error: string;
  readonly deliveries: number;
}

/** The dead letters of a stream, the oldest first. */
export async function* deadLetters(link: Link, names: TaskNames): AsyncGenerator<DeadLetter> {
  for await (const message of messages(link, names)) yield letterOf(message);
}

/**
 * Puts dead letters back into their stream, as tasks that have never failed, and removes them; resolves to how many. Those
 * that cannot be read stay. One that is put back and not removed, as this process ended between the two, is not put back again
 * within the stream's `duplicateWindow`.
 */
export async function retryDead(
  link: Link,
  names: TaskNames,
  publisher: Publisher,
): Promise<number> {
  const { jsm } = await link.jetstream();
  let count = 0;
  for await (const message of messages(link, names)) {
    if (message.header.get(headerNames.reason) === 'unreadable') continue;
    const lane = lanes.find((each) => names.dead(each) === message.subject);
    if (lane === undefined) continue;
    await publisher.store(names.subject(lane), message.data, {
      [headerNames.id]: `dead:${message.seq}.${message.time.toISOString()}`,
    });
    await jsm.streams.deleteMessage(names.deadStream, message.seq, false);
    count++;
  }
  return count;
}

/** Those that are there now. */
async function* messages(link: Link, names: TaskNames): AsyncGenerator<StoredMsg> {
  const { jsm } = await link.jetstream();
  const { first_seq, last_seq } = (await jsm.streams.info(names.deadStream)).state;
  for (let seq = first_seq; seq <= last_seq; ) {
    const message = await jsm.streams.getMessage(names.deadStream, { seq, next_by_subj: '>' } as {
      seq: number;
    });
    if (message === null || message.seq > last_seq) return;
    yield message;
    seq = message.seq + 1;
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
