/** Finds the outbox of a WebSocket. */
import { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { Gatherer } from './gatherer.js';
import { Outbox } from './outbox.js';
import { Wire, type WriteCallback } from './wire.js';
import { isAtRest, type Sender } from './ws-class.js';

/** Bytes of one socket that leave before the end of the turn. As what a stream buffers, and much less than a kernel does. */
export const defaultMaxPendingBytes = 64 * 1024;

const key = Symbol('millrace.outbox');

interface Adopted extends Sender {
  [key]?: Outbox | null;
}

/** The gatherers of installed classes, by the prototype of their senders. */
const gatherers = new WeakMap<object, Gatherer>();
let common: Gatherer | null = null;

/** Where what is sent through these senders is gathered from now on; null: nowhere. */
export function setGatherer(senders: object, gatherer: Gatherer | null): void {
  if (gatherer === null) gatherers.delete(senders);
  else gatherers.set(senders, gatherer);
}

/** The sender's outbox; null for one whose frames cannot be gathered. */
export function outboxOf(sender: Sender): Outbox | null {
  const outbox = (sender as Adopted)[key];
  return outbox === undefined || outbox?.gatherer.closed ? adopt(sender) : outbox;
}

function adopt(sender: Sender): Outbox | null {
  const socket = sender._socket;
  let outbox: Outbox | null = null;
  if (socket instanceof Socket) {
    const wire = Wire.of(socket);
    if (wire.guard()) outbox = new Outbox(gathererOf(sender), wire);
  }
  Object.defineProperty(sender, key, { value: outbox, writable: true });
  return outbox;
}

function gathererOf(sender: Sender): Gatherer {
  const installed = gatherers.get(Object.getPrototypeOf(sender) as object);
  if (installed !== undefined) return installed;
  common ??= new Gatherer(defaultMaxPendingBytes, null);
  return common;
}

/**
 * Sends an encoded frame, which nobody changes any more, at the end of this turn: together with all other frames of the
 * socket, in order with everything else it does, and in one native call for all sockets that send the same.
 *
 * False, and nothing done, when that cannot be: the socket is not open, is no `net.Socket`, is a client's, is in the
 * middle of a message, or the process exits. Then the ordinary way is the right one.
 */
export function gather(ws: WebSocket, frame: Buffer, callback?: WriteCallback): boolean {
  const { _sender: sender, _isServer: isServer } = ws as unknown as {
    _sender: Sender | null;
    _isServer: boolean;
  };
  if (sender === null || !isServer || ws.readyState !== 1 || !isAtRest(sender)) return false;
  const outbox = outboxOf(sender);
  if (outbox === null) return false;
  return outbox.gatherer.add(outbox, outbox.gatherer.frames.ready(frame), callback);
}
