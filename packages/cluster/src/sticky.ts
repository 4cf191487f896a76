/**
 * Sticky sessions: which process a client belongs to. The key of a client is its address, or a header or cookie of its first request.
 * To find that one, the primary reads the head of the request from the connection and stops right there; whatever it has read goes to
 * the process with the connection, so that no byte is lost. A client without a key goes by its address.
 */
import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { RawHandle } from './protocol.js';

/**
 * Rendezvous hashing: each key has its own order of preference for the slots, and gets the first one that exists. When a slot
 * goes only its keys move, and when one comes it takes an equal share from each of the others.
 */
export function ownerOf(key: string, slots: Iterable<number>): number | null {
  const seed = hash(key);
  let best: number | null = null;
  let highest = -1;
  for (const slot of slots) {
    const weight = mix(seed ^ mix(slot + 1));
    if (weight <= highest) continue;
    highest = weight;
    best = slot;
  }
  return best;
}

/** FNV-1a over the characters. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  return mix(sum);
}

/** Spreads each bit over all of them (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** An IPv4 client is the same on a socket of either family. */
export const addressKey = (address: string | undefined): string =>
  (address ?? '').replace(/^::ffff:(?=[\d.]+$)/, '');

/** The key that the head of a request names; null if it names none. */
export function headKey(head: string, { by, name }: { by: 'header' | 'cookie'; name: string }) {
  const value = header(head, by === 'header' ? name : 'cookie');
  if (value === null) return null;
  // The first one of a list is the client, the others are the proxies on the way.
  const key = by === 'header' ? value.split(',', 1)[0]!.trim() : cookie(value, name);
  return key === '' ? null : key;
}

function header(head: string, name: string): string | null {
  const wanted = name.toLowerCase();
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0 && line.slice(0, colon).toLowerCase() === wanted) {
      return line.slice(colon + 1).trim();
    }
  }
  return null;
}

function cookie(value: string, name: string): string | null {
  for (const pair of value.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return null;
}

/** A client that has not sent all of it by then (ms) counts as one without a head; from then on the process's own timeouts apply. */
const timeoutMs = 5000;
/** Ms for the first byte: browsers connect before they have something to ask. It is the time that Node.js gives a head. */
const silenceMs = 60_000;
const tlsHandshake = 0x16;
const end = '\r\n\r\n';

/**
 * Calls `done` once with all bytes that were read, and the head as text: '' if none came in time, it is too long, or it is encrypted;
 * with null if the connection ends before that. The socket must be paused; nothing reads from it afterwards. Returns a function
 * that ends it at once, with what there is.
 */
export function readHead(
  socket: Socket,
  done: (bytes: Buffer | null, head: string) => void,
): () => void {
  const chunks: Buffer[] = [];
  let size = 0;
  /** The last bytes, which may be the beginning of the end. */
  let tail = '';
  const finish = (bytes: Buffer | null, head: string) => {
    clearTimeout(timer);
    socket.off('data', receive);
    socket.off('close', closed);
    // The stream still believes that it is reading, and so does not begin again. What comes from now on is for the process.
    (socket as Socket & { _handle: RawHandle | null })._handle?.readStop();
    done(bytes, head);
  };
  const giveUp = () => finish(Buffer.concat(chunks, size), '');
  const closed = () => finish(null, '');
  const receive = (chunk: Buffer) => {
    if (size === 0) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, timeoutMs).unref();
    }
    chunks.push(chunk);
    const text = tail + chunk.toString('latin1');
    const at = text.indexOf(end);
    const before = size - tail.length;
    size += chunk.length;
    tail = text.slice(1 - end.length);
    if (at >= 0) {
      const bytes = Buffer.concat(chunks, size);
      finish(bytes, bytes.toString('latin1', 0, before + at));
    } else if (chunks[0]![0] === tlsHandshake || size > maxHeaderSize) giveUp();
  };
  let timer = setTimeout(giveUp, silenceMs).unref();
  socket.on('data', receive);
  socket.once('close', closed);
  socket.resume();
  return giveUp;
}
