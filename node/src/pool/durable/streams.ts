/** Creates the streams and consumers of durable tasks, and refuses those that are set up otherwise. */
import type { JetStreamManager, StreamConfig } from '../../broker/client-types.js';
import { failure } from '../../broker/failure.js';
import type { Link } from '../../broker/link.js';
import { show } from '../../errors.js';
import { type LaneName, lanes, type TaskNames } from './names.js';
import type { StreamSettings } from './stream-options.js';

const nanos = (ms: number) => ms * 1_000_000;
const streamNotFound = 10059;
/** Messages that a consumer may have given out: more than workers hold. */
const maxAckPending = 100_000;

type Config = Partial<StreamConfig> & { name: string };
/** A stream that is there, and since when. */
type Made = Awaited<ReturnType<JetStreamManager['streams']['info']>>;

/** Creates the streams, or compares those that are there. Resolves to what users may have set otherwise, and when the stream was made. Rejects with MILLRACE_E_BROKER. */
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
    subjects: lanes.map((lane) => names.subject(lane)),
    retention: 'workqueue',
    max_bytes: maxBytes,
    max_msgs: maxMessages,
    duplicate_window: nanos(duplicateWindow),
  };
  const dead: Config = {
    ...common,
    name: names.deadStream,
    subjects: lanes.map((lane) => names.dead(lane)),
    retention: 'limits',
    max_bytes: Math.ceil(maxBytes / 4),
  };
  const { config, created } = await open(jsm, tasks, settings.given);
  await open(jsm, dead, new Set());
  return { duplicateWindowMs: config.duplicate_window / nanos(1), createdAt: `${created}` };
}

/** What a stream of another purpose would have otherwise, and what users may set, with the option's name. */
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
): Promise<Made> {
  const there = await find(jsm, config.name);
  if (there !== null) {
    compare(there.config, config, given);
    return there;
  }
  try {
    return await jsm.streams.add(config);
  } catch (error) {
    // Somebody else may have been quicker.
    const made = await find(jsm, config.name).catch(() => null);
    if (made === null) {
      const { message } = error as Error;
      throw failure(
        `the stream ${config.name} cannot be created: ${message}; where there is too little storage set a lower maxBytes of \`stream\``,
        error,
      );
    }
    compare(made.config, config, given);
    return made;
  }
}

async function find(jsm: JetStreamManager, name: string): Promise<Made | null> {
  try {
    return await jsm.streams.info(name);
  } catch (error) {
    if ((error as { code?: number }).code === streamNotFound) return null;
    throw failure(`the stream ${name} cannot be looked at: ${(error as Error).message}`, error);
  }
}

function compare(there: StreamConfig, wanted: Config, given: ReadonlySet<string>): void {
  for (const key of structure) {
    if (String(there[key]) === String(wanted[key])) continue;
    throw failure(
      `the stream ${wanted.name} is there with ${key} ${say(there[key])}, but durable tasks need ${say(wanted[key])}; choose another \`stream\` or \`namespace\`, or remove that stream`,
    );
  }
  for (const [key, name] of Object.entries(bounds) as [keyof typeof bounds, string][]) {
    if (!given.has(name) || there[key] === wanted[key]) continue;
    const [has, wants] = [there[key], wanted[key]].map((value) =>
      key === 'duplicate_window' ? Number(value) / nanos(1) : Number(value),
    );
    throw failure(
      `the stream ${wanted.name} is there with ${name} ${has}, but \`stream\` says ${wants}; leave ${name} out to take it as it is, or change it by nats stream edit`,
    );
  }
}

const say = (value: unknown) => (Array.isArray(value) ? value.join(', ') : show(value));

/** Creates the consumer of each lane, or gives it this time for acknowledgement, in ms. Idempotent. */
export async function openConsumers(
  link: Link,
  names: TaskNames,
  ackWaitMs: number,
): Promise<void> {
  const { jsm } = await link.jetstream();
  for (const lane of lanes) {
    try {
      await jsm.consumers.add(names.stream, {
        durable_name: lane satisfies LaneName,
        filter_subject: names.subject(lane),
        ack_policy: 'explicit',
        ack_wait: nanos(ackWaitMs),
        max_deliver: -1,
        max_ack_pending: maxAckPending,
        max_waiting: 10_000,
      });
    } catch (error) {
      throw failure(
        `the consumer ${lane} of the stream ${names.stream} cannot be created: ${(error as Error).message}`,
        error,
      );
    }
  }
}
