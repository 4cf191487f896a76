/** Finds the outbox of a WebSocket, by the object that encodes its frames. */
import { Socket } from 'node:net';
import type { Gatherer } from './gatherer.js';
import { Outbox } from './outbox.js';
import { Wire } from './wire.js';
import type { Sender } from './ws-class.js';

/** Bytes of one socket that leave before the end of the turn. As much as a stream buffers, and much less than a kernel does. */
export const defaultMaxPendingBytes = 64 * 1024;

const key = Symbol('millrace.outbox');

interface Adopted extends Sender {
  [key]?: Outbox | null;
}

/** The sender's outbox, which is made when there is none; null for one without a socket of Node.js. */
export function outboxOf(sender: Sender, gatherer: Gatherer): Outbox | null {
  const outbox = (sender as Adopted)[key];
  if (outbox === null || outbox?.gatherer === gatherer) return outbox;
  return adopt(sender, gatherer);
}

/** The sender's outbox if it has one. */
export function knownOutbox(sender: Sender): Outbox | null {
  return (sender as Adopted)[key] ?? null;
}

function adopt(sender: Sender, gatherer: Gatherer): Outbox | null {
  const socket = sender._socket;
  const outbox = socket instanceof Socket ? new Outbox(gatherer, Wire.of(socket)) : null;
  Object.defineProperty(sender, key, { value: outbox, writable: true });
  return outbox;
}
