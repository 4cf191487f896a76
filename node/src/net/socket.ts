/** Which sockets are taken. */
import { Socket } from 'node:net';
import { MillraceError, show } from '../errors.js';

/** Throws MILLRACE_E_INVALID_ARGUMENT for a socket that would gain nothing, or lose. */
export function checkSocket(socket: unknown): void {
  const why = refusal(socket);
  if (why === null) return;
  throw new MillraceError('MILLRACE_E_INVALID_ARGUMENT', `the socket is ${why}`);
}

function refusal(socket: unknown): string | null {
  if (!(socket instanceof Socket)) return `${show(socket)}; it must be a net.Socket`;
  const { encrypted, isTTY, fd } = socket as { encrypted?: unknown; isTTY?: unknown; fd?: unknown };
  if (encrypted === true) {
    return 'a TLSSocket, which gathers the writes of a turn by itself; leave it as it is';
  }
  // Programs rely on it that what they print is out when they end, however they end.
  if (isTTY === true || typeof fd === 'number') {
    return 'a terminal or a stream of process, such as process.stdout; these must not wait, leave it as it is';
  }
  return null;
}
