import type { Socket } from 'node:net';
import { parse } from '@millrace/base/options';
import { bytes, type FieldsOf, schema } from '@millrace/base/schema';
import { type CoalesceOptions, type Coalescer, SocketCoalescer } from './coalescer.js';
import { checkSocket, type Refusals } from './socket.js';

const refusals: Refusals = {
  tls: 'which gathers the writes of a turn by itself',
  // Programs rely on what they print being out when they end, however they end.
  standard: 'these must not wait',
};

export const coalesceSchema = schema({
  maxPendingBytes: bytes(1, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
} satisfies FieldsOf<CoalesceOptions>);

const coalesced = new WeakMap<Socket, SocketCoalescer>();
/** Coalescers that the application has not asked for. */
const automatic = new WeakSet<SocketCoalescer>();

/**
 * Coalesces the writes of a socket: the first of each loop turn leaves at once, and later ones of the turn leave together at
 * its end. Nothing else of the socket changes; `off()` of the result ends it.
 *
 * A socket that is coalesced already keeps its options, and its {@link Coalescer} is returned; a socket that only
 * millrace/auto coalesces gets these, and stays coalesced when auto is switched off. Throws MILLRACE_E_INVALID_ARGUMENT for
 * anything but a `net.Socket`, for TLS, terminals and the streams of `process`; MILLRACE_E_INVALID_OPTION for an unknown
 * option or a bad value. Costs one `setImmediate` for each turn in which any coalesced socket is written to.
 */
export function coalesce(socket: Socket, options: CoalesceOptions = {}): Coalescer {
  const limit = check(socket, options);
  const known = coalesced.get(socket);
  if (known === undefined) return begin(socket, limit);
  if (!automatic.has(known)) return known;
  known.off();
  return begin(socket, limit);
}

/**
 * `coalesce()` for millrace/auto. Null for a socket that is coalesced already; what it returns ends when the application
 * calls `coalesce()` for the socket, so `off()` never ends what the application does by itself.
 */
export function coalesceAutomatically(socket: Socket, options: CoalesceOptions): Coalescer | null {
  const limit = check(socket, options);
  if (coalesced.has(socket)) return null;
  const coalescer = begin(socket, limit);
  automatic.add(coalescer);
  return coalescer;
}

/** Returns `maxPendingBytes`. */
function check(socket: Socket, options: CoalesceOptions): number {
  checkSocket(socket, refusals);
  return parse('coalesce()', options, coalesceSchema).maxPendingBytes;
}

function begin(socket: Socket, maxPendingBytes: number): SocketCoalescer {
  const coalescer = new SocketCoalescer(socket, maxPendingBytes, () => coalesced.delete(socket));
  coalesced.set(socket, coalescer);
  return coalescer;
}
