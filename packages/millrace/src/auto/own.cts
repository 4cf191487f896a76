/** Which sockets are left alone. */
import type { Socket } from 'node:net';

/** Marks the servers and sockets of the dashboard, which are not part of the application. */
const own = Symbol.for('millrace.own');

/** Whether it is the dashboard's: a server, or a socket, or one that such a server has accepted. */
export function isOwn(object: object): boolean {
  const { server, _server } = object as { server?: object; _server?: object };
  return [object, server, _server].some((each) => each != null && own in each);
}

/** Whether a socket is the application's, and carries plain bytes: no TLS, no terminal, no stream of `process`. */
export function isPlain(socket: Socket): boolean {
  const { encrypted, isTTY, fd } = socket as { encrypted?: unknown; isTTY?: unknown; fd?: unknown };
  return encrypted !== true && isTTY !== true && typeof fd !== 'number' && !isOwn(socket);
}
