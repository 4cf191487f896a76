/** Decides which sockets are accepted. */
import { Socket } from 'node:net';
import { MillraceError, show } from '@millrace/base/errors';

/** Reasons of a feature for refusing a socket; each completes "the socket is a ...". */
export interface Refusals {
  tls: string;
  /** Terminals, and the streams of `process`. */
  standard: string;
}

/** Throws MILLRACE_E_INVALID_ARGUMENT for a socket that would gain nothing, or lose. */
export function checkSocket(socket: unknown, refusals: Refusals): asserts socket is Socket {
  const why = refusal(socket, refusals);
  if (why === null) return;
  throw new MillraceError('MILLRACE_E_INVALID_ARGUMENT', `the socket is ${why}`);
}

function refusal(socket: unknown, { tls, standard }: Refusals): string | null {
  if (!(socket instanceof Socket)) return `${show(socket)}; it must be a net.Socket`;
  const { encrypted, isTTY, fd } = socket as { encrypted?: unknown; isTTY?: unknown; fd?: unknown };
  if (encrypted === true) return `a TLSSocket, ${tls}; leave it as it is`;
  if (isTTY === true || typeof fd === 'number') {
    return `a terminal or a stream of process, such as process.stdout; ${standard}, leave it as it is`;
  }
  return null;
}
