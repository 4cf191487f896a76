/** A member of rooms can be a WebSocket, or the response of a request, which becomes an event stream. */
import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { MillraceError, show } from '@millrace/base/errors';
import type { WebSocket } from './ws-class.js';

/** The response of a request by HTTP/1 or HTTP/2. */
export type StreamResponse = ServerResponse | Http2ServerResponse;

/** A connection that can join a room. */
export type Connection = WebSocket | StreamResponse;

const responseMethods = ['write', 'end', 'setHeader', 'flushHeaders'] as const;

export function isResponse(connection: Connection): connection is StreamResponse {
  const candidate = connection as unknown as Record<string, unknown> | null | undefined;
  return responseMethods.every((name) => typeof candidate?.[name] === 'function');
}

/** The parts of a connection that we use must be there, including `_socket`, which ws does not document. */
export function checkConnection(connection: unknown): void {
  const candidate = connection as {
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
  if (isResponse(connection as Connection)) return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the socket is ${show(connection)}; it must be a WebSocket of the ws package, version 8, or the response of a request (in Fastify reply.raw, in Koa ctx.res)`,
  );
}
