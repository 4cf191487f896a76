/** The stream in which the broker keeps the messages of durable rooms: one for `Rooms`, one for servers of socket.io. */
import type { JetStreamManager, StreamInfo } from '../../../broker/client-types.js';
import { failure } from '../../../broker/failure.js';
import type { Link } from '../../../broker/link.js';
import { sleep } from '../../../core/timers.cjs';
import type { StreamLimits } from '../options.js';

const nanoseconds = 1e6;
/** For how long the broker recognizes a message that is sent again, in ms. Receivers recognize it in any case. */
const dedupeMs = 120_000;
const notFound = 404;

/** Whose rooms these are: part of the name of the stream, and of its subjects. */
export type Owner = 'rooms' | 'socket-io';

function configOf(
  link: Link,
  owner: Owner,
  { maxAge, maxBytes, replicas }: Required<StreamLimits>,
) {
  return {
    name: `${link.namespace}_${owner}`,
    subjects: [`${link.subject(owner, 'durable')}.>`],
    retention: 'limits',
    storage: 'file',
    discard: 'old',
    max_age: Math.round(maxAge) * nanoseconds,
    max_bytes: maxBytes,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    num_replicas: replicas,
    duplicate_window: Math.min(Math.round(maxAge), dedupeMs) * nanoseconds,
  } as const;
}

/** Makes the stream if it is not there. Rejects with MILLRACE_E_BROKER when it is there and set up otherwise. */
export async function ensureStream(
  link: Link,
  owner: Owner,
  jsm: JetStreamManager,
  limits: Required<StreamLimits>,
): Promise<StreamInfo> {
  const wanted = configOf(link, owner, limits);
  const info = (await find(jsm, wanted.name)) ?? (await make(jsm, wanted));
  const found = info.config as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(wanted)) {
    const is = JSON.stringify(found[name]);
    const must = JSON.stringify(value);
    if (is === must) continue;
    throw failure(
      `the stream ${wanted.name} is there with ${name} ${is}, and these rooms want ${must}; give all nodes the same option 'stream', use another namespace, or remove the stream`,
    );
  }
  return info;
}

async function make(jsm: JetStreamManager, wanted: ReturnType<typeof configOf>) {
  try {
    return await jsm.streams.add({ ...wanted, subjects: [...wanted.subjects] });
  } catch (error) {
    // Another node is making it at the same moment.
    for (let tries = 0; tries < 5; tries++) {
      const info = await find(jsm, wanted.name);
      if (info !== null) return info;
      await sleep(50);
    }
    throw error;
  }
}

async function find(jsm: JetStreamManager, name: string): Promise<StreamInfo | null> {
  try {
    return await jsm.streams.info(name);
  } catch (error) {
    if ((error as { status?: unknown }).status === notFound) return null;
    throw error;
  }
}
