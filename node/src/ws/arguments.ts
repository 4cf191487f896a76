/** What callers of `Rooms` give it: the names of rooms, sockets, and how a socket is closed. */
import { MillraceError, show } from '../errors.js';

export function checkName(name: unknown): void {
  if (typeof name === 'string') return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the name of a room is ${show(name)}; it must be a string`,
  );
}

/** As ws checks them, but before anything is noted: when the close itself comes, it is too late to complain. */
export function checkClose(code: unknown, reason: unknown): void {
  const inRange = (from: number, to: number) => (code as number) >= from && (code as number) <= to;
  const valid =
    code === undefined ||
    (Number.isInteger(code) && (inRange(1000, 1003) || inRange(1007, 1014) || inRange(3000, 4999)));
  if (!valid) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `the close code is ${show(code)}; it must be 1000 to 1003, 1007 to 1014, or 3000 to 4999`,
    );
  }
  if (reason === undefined || (typeof reason === 'string' && Buffer.byteLength(reason) <= 123)) {
    return;
  }
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the reason of a close is ${show(reason)}; it must be a string of at most 123 bytes`,
  );
}

/** What we use of a socket must be there, including `_socket`, which ws does not document. */
export function checkSocket(socket: unknown): void {
  const candidate = socket as {
    readyState?: unknown;
    extensions?: unknown;
    _socket?: { on?: unknown; write?: unknown } | null;
  } | null;
  if (
    typeof candidate?.readyState === 'number' &&
    typeof candidate.extensions === 'string' &&
    (candidate.readyState !== 1 ||
      (typeof candidate._socket?.on === 'function' &&
        typeof candidate._socket.write === 'function'))
  ) {
    return;
  }
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the socket is ${show(socket)}; it must be a WebSocket of the ws package, version 8`,
  );
}
