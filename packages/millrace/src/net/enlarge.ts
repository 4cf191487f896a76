import type { Socket } from 'node:net';
import { binding } from '../native/load.js';
import { type Enlarged, SocketEnlarger } from './enlarger.js';
import { type EnlargeOptions, readOptions } from './read-options.js';
import { checkSocket, type Refusals } from './socket.js';

const refusals: Refusals = {
  tls: 'whose reads are as large as the records of TLS',
  standard: 'these do not receive in bulk over TCP',
};

const enlarged = new WeakMap<Socket, Enlarged>();

/**
 * Adapts the read size of a socket that receives in bulk, 64 KB without this: it doubles while reads come back full, up to
 * `maxRead`, and falls back when they do not. After sustained full reads the receive buffer of the system is raised, and a
 * socket that has much to read yields to others after `maxTurn` bytes. The bytes and their order are the same; chunks are
 * larger. It takes effect at the end of the turn, or of the turn in which the socket connects; it holds through pauses, and
 * for the next connection of a socket that is connected again.
 *
 * JavaScript cannot change the size of the reads of a socket: without the addon this does nothing, and `active` stays false.
 * The same holds on Windows and for local sockets (pipes). Code that reads into its own buffer gains only the larger receive
 * buffer: sockets with `onread`, requests to a server of `node:http`, TLS that is put on the socket later.
 *
 * A socket that is enlarged already keeps its options, and its {@link Enlarged} is returned. Throws
 * MILLRACE_E_INVALID_ARGUMENT for anything but a `net.Socket`, for TLS, terminals and the streams of `process`;
 * MILLRACE_E_INVALID_OPTION for an unknown option or a bad value. Costs a search of the loop's handles for each turn in
 * which sockets are enlarged or connect, and a look-up for each read. With glibc the process keeps up to 32 MB of freed
 * memory from the first one on, as it does after freeing any block of 16 MB: read buffers are made of it again.
 */
export function enlarge(socket: Socket, options: EnlargeOptions = {}): Enlarged {
  checkSocket(socket, refusals);
  const complete = readOptions(options);
  if (binding === null) return inert;
  let enlarger = enlarged.get(socket);
  if (enlarger === undefined) {
    enlarger = new SocketEnlarger(socket, complete, binding, () => enlarged.delete(socket));
    enlarged.set(socket, enlarger);
  }
  return enlarger;
}

/** Result without the addon. */
const inert: Enlarged = Object.freeze({ active: false, off() {}, stats: () => null });
