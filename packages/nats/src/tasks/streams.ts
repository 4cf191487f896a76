/**
 * The streams of JetStream that hold durable tasks: their names, their settings, and how far behind their workers are.
 *
 * `NAMESPACE_tasks_NAME` is a work queue: a message stays until it is acknowledged. It has four queues, each with a subject
 * and a consumer of its own, as older servers filter one subject for each consumer: one queue for each priority, and `alone`
 * for tasks that were with a worker when it ended. `NAMESPACE_tasks_NAME_dead` has the dead letters, on subjects of the same
 * form. The first client or worker creates both. A stream that exists is used as it is, unless it contradicts an option that
 * the user has given, or was made for something else.
 */

import { show } from '@millrace/base/errors';
import { type Priority, priorities } from '@millrace/base/priority';
import type { JetStreamManager, StreamConfig, StreamInfo } from '../client-types.js';
import { failure } from '../connect.js';
import { createStream, findStream } from '../jetstream.js';
import type { Link } from '../link.js';
import type { StreamSettings } from './options.js';

/** A queue of the stream: a priority, or `alone` for tasks that were with a worker when it ended. */
export type QueueName = Priority | 'alone';

export const queueNames: readonly QueueName[] = [...priorities, 'alone'];

/** The part of a link that names need. */
type Naming = Pick<Link, 'namespace' | 'subject'>;

/** Names and subjects of one stream of tasks. */
export class TaskNames {
  readonly stream: string;
  readonly deadStream: string;
  /** Subject to all workers: keys of aborted tasks. */
  readonly cancels: string;
  /** Subject to all clients: mean times of functions. */
  readonly times: string;
  readonly #link: Naming;
  readonly #name: string;

  constructor(link: Naming, name: string) {
    this.#link = link;
    this.#name = name;
    this.stream = `${link.namespace}_tasks_${name}`;
    this.deadStream = `${this.stream}_dead`;
    this.cancels = link.subject('cancels', name);
    this.times = link.subject('times', name);
  }

  subject(queue: QueueName): string {
    return this.#link.subject('tasks', this.#name, queue);
  }

  dead(queue: QueueName): string {
    return this.#link.subject('dead', this.#name, queue);
  }

  /** The subject of results for a client. */
  results(node: string): string {
    return this.#link.subject('results', node);
  }
}

/** Headers of tasks that were stored again, and of dead letters. */
export const headerNames = {
  id: 'Nats-Msg-Id',
  /** Number of deliveries before it was stored again. */
  deliveries: 'Millrace-Deliveries',
  /** Number of failures. */
  failures: 'Millrace-Failures',
  /** Time in ms for which its first receiver gives it back. */
  delay: 'Millrace-Delay',
  /** Priority, where the subject does not say it. */
  priority: 'Millrace-Priority',
  /** Reason why it is dead. */
  reason: 'Millrace-Reason',
  error: 'Millrace-Error',
} as const;

const nanos = (ms: number) => ms * 1_000_000;
/** Unacknowledged messages of a consumer: more than workers take. */
const maxAckPending = 100_000;

type Config = Partial<StreamConfig> & { name: string };

/**
 * Creates the streams, or compares those that exist. Resolves to the stream's `duplicateWindow` in ms and to when it was
 * created. Rejects with MILLRACE_E_BROKER.
 */
export async function openStreams(
  link: Link,
  names: TaskNames,
  settings: StreamSettings,
): Promise<{ duplicateWindowMs: number; createdAt: string }> {
  const { jsm } = await link.jetstream();
  const common = { storage: 'file', discard: 'new', num_replicas: settings.replicas } as const;
  const { maxBytes, maxMessages, duplicateWindow } = settings;
  const tasks: Config = {
    ...common,
    name: names.stream,
    subjects: queueNames.map((queue) => names.subject(queue)),
    retention: 'workqueue',
    max_bytes: maxBytes,
    max_msgs: maxMessages,
    duplicate_window: nanos(duplicateWindow),
  };
  const dead: Config = {
    ...common,
    name: names.deadStream,
    subjects: queueNames.map((queue) => names.dead(queue)),
    retention: 'limits',
    max_bytes: Math.ceil(maxBytes / 4),
  };
  const { config, created } = await open(jsm, tasks, settings.given);
  await open(jsm, dead, new Set());
  return { duplicateWindowMs: config.duplicate_window / nanos(1), createdAt: `${created}` };
}

/** Settings in which a stream of another purpose differs, and those that users choose, with the option's name. */
const structure = ['retention', 'storage', 'discard', 'subjects'] as const;
const bounds = {
  max_bytes: 'maxBytes',
  max_msgs: 'maxMessages',
  duplicate_window: 'duplicateWindow',
  num_replicas: 'replicas',
} as const;

async function open(
  jsm: JetStreamManager,
  config: Config,
  given: ReadonlySet<string>,
): Promise<StreamInfo> {
  const failed = (act: string, more: string) => (error: Error) => {
    throw failure(`the stream ${config.name} cannot be ${act}: ${error.message}${more}`, error);
  };
  const hint = '; where there is too little storage set a lower maxBytes of `stream`';
  const existing = await findStream(jsm, config.name).catch(failed('looked at', ''));
  const info = existing ?? (await createStream(jsm, config).catch(failed('created', hint)));
  compare(info.config, config, given);
  return info;
}

function compare(existing: StreamConfig, wanted: Config, given: ReadonlySet<string>): void {
  for (const key of structure) {
    if (String(existing[key]) === String(wanted[key])) continue;
    throw failure(
      `the stream ${wanted.name} is there with ${key} ${text(existing[key])}, but durable tasks need ${text(wanted[key])}; choose another \`stream\` or \`namespace\`, or remove that stream`,
    );
  }
  for (const [key, name] of Object.entries(bounds) as [keyof typeof bounds, string][]) {
    if (!given.has(name) || existing[key] === wanted[key]) continue;
    const [has, wants] = [existing[key], wanted[key]].map((value) =>
      key === 'duplicate_window' ? Number(value) / nanos(1) : Number(value),
    );
    throw failure(
      `the stream ${wanted.name} is there with ${name} ${has}, but \`stream\` says ${wants}; leave ${name} out to take it as it is, or change it by nats stream edit`,
    );
  }
}

const text = (value: unknown) => (Array.isArray(value) ? value.join(', ') : show(value));

/** Creates the consumer of each queue, or gives it this time for acknowledgement. Idempotent. Rejects with MILLRACE_E_BROKER. */
export async function openConsumers(
  link: Link,
  names: TaskNames,
  ackWaitMs: number,
): Promise<void> {
  const { jsm } = await link.jetstream();
  for (const queue of queueNames) {
    try {
      await jsm.consumers.add(names.stream, {
        durable_name: queue,
        filter_subject: names.subject(queue),
        ack_policy: 'explicit',
        ack_wait: nanos(ackWaitMs),
        max_deliver: -1,
        max_ack_pending: maxAckPending,
        max_waiting: 10_000,
      });
    } catch (error) {
      throw failure(
        `the consumer ${queue} of the stream ${names.stream} cannot be created: ${(error as Error).message}`,
        error,
      );
    }
  }
}

/** Messages of one queue, each with one task or a pack of short ones. */
export interface QueueLag {
  /** Messages that no worker has yet. */
  readonly pending: number;
  /** Messages that a worker has, or that wait after a failure. */
  readonly unacknowledged: number;
  /** Unacknowledged messages that were delivered before. */
  readonly redelivered: number;
}

/** Work that is left in a stream of tasks. `alone`: tasks of a worker that ended; they run one at a time. */
export interface TaskLag extends Readonly<Record<QueueName, QueueLag>> {
  /** Dead letters. */
  readonly dead: number;
}

const none: QueueLag = { pending: 0, unacknowledged: 0, redelivered: 0 };

/** Asks the broker. Rejects with MILLRACE_E_BROKER when it is away, and with the broker's error, for instance when there is no such stream. */
export async function lagOf(link: Link, names: TaskNames): Promise<TaskLag> {
  const { jsm } = await link.jetstream();
  const lag: Record<QueueName, QueueLag> = { high: none, normal: none, low: none, alone: none };
  const { state } = await jsm.streams.info(names.stream, { subjects_filter: '>' });
  await Promise.all(
    queueNames.map(async (queue) => {
      const info = await jsm.consumers.info(names.stream, queue).catch(() => null);
      lag[queue] =
        info === null
          ? { ...none, pending: state.subjects?.[names.subject(queue)] ?? 0 }
          : {
              pending: info.num_pending,
              unacknowledged: info.num_ack_pending,
              redelivered: info.num_redelivered,
            };
    }),
  );
  const dead = await jsm.streams.info(names.deadStream).catch(() => null);
  return { ...lag, dead: dead?.state.messages ?? 0 };
}
