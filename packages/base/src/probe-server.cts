/**
 * Server of probes and metrics by HTTP: a few paths, by GET and HEAD, one request per connection. The watchdog of the monitor has one in
 * its thread, beside a loop that is blocked; a cluster has one in its primary. The answer to a path is given by a function.
 *
 * A probe has to be answered whatever other clients do. A client that sends nothing, or does not read its response, holds a connection. So
 * no connection is refused: one too many ends the oldest one, and each ends after a minute in which nothing moves. A function that
 * fails is a response with status 500. The server keeps nothing alive.
 *
 * Each response names the process that gives it. A client that asks for one process knows by it that no other program has the port.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { builtin, isError } from './realm.cjs';

/** Response to a probe. */
export interface ProbeAnswer {
  readonly status: number;
  readonly body: string;
  /** Content type; plain text by default. */
  readonly type?: string;
}

/** Header of each response with the id of the process. */
export const pidHeader = 'millrace-pid';

const mostConnections = 64;
/** Time in ms in which a request has to arrive, and after which a connection ends on which nothing moves. */
const patienceMs = 60_000;

/** Origins that may read responses in a browser: the dashboard, whose own server does not answer while the loop is blocked. */
const pageOfThisMachine = /^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/;

export class ProbeServer<Path extends string> {
  /** Server of Node.js, for counters of responses that leave it out. */
  readonly http: Server;
  readonly #paths: readonly Path[];
  readonly #answer: (path: Path) => ProbeAnswer | Promise<ProbeAnswer>;
  /** Open connections, oldest first. */
  readonly #sockets = new Set<Socket>();

  /** Does not listen yet. `answer` is called for each request of one of the paths. */
  constructor(paths: readonly Path[], answer: (path: Path) => ProbeAnswer | Promise<ProbeAnswer>) {
    this.#paths = paths;
    this.#answer = answer;
    const { createServer } = builtin('node:http');
    const server = createServer({ requestTimeout: patienceMs }, (request, response) => {
      void this.#respond(request, response);
    });
    server.timeout = patienceMs;
    server.maxRequestsPerSocket = 1;
    server.on('connection', (socket: Socket) => this.#admit(socket));
    this.http = server.unref();
  }

  /** Port that it listens on; null while it does not. */
  get port(): number | null {
    return (this.http.address() as AddressInfo | null)?.port ?? null;
  }

  /** Listens. Resolves with the reason if that is not possible, else with null. */
  listen({ host, port }: { readonly host: string; readonly port: number }): Promise<string | null> {
    return new Promise((resolve) => {
      // Later errors are connections that could not be accepted, as without a free descriptor: such a client asks again.
      this.http.on('error', ({ code, message }: NodeJS.ErrnoException) => {
        const why = code === 'EADDRINUSE' ? 'the port is taken; choose another one' : message;
        resolve(`probes cannot listen on ${host}:${port}: ${why}`);
      });
      this.http.listen({ host, port, exclusive: true }, () => resolve(null));
    });
  }

  /** Ends the server and its connections, and resolves when they have ended. Idempotent. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.http.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  #admit(socket: Socket): void {
    const sockets = this.#sockets;
    const [oldest] = sockets;
    if (oldest !== undefined && sockets.size >= mostConnections) {
      sockets.delete(oldest);
      oldest.destroy();
    }
    sockets.add(socket.unref());
    socket.once('close', () => sockets.delete(socket));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '', headers } = request;
    const { origin = '' } = headers;
    const isRead = method === 'GET' || method === 'HEAD';
    const answer: ProbeAnswer = isRead
      ? await this.#read(url.split('?')[0]!)
      : { status: 405, body: 'only GET and HEAD\n' };
    response.writeHead(answer.status, {
      'content-type': answer.type ?? 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(answer.body),
      'cache-control': 'no-store',
      [pidHeader]: process.pid,
      // A kept connection may close at the moment of the next probe, which would fail.
      connection: 'close',
      ...(isRead ? {} : { allow: 'GET, HEAD' }),
      ...(pageOfThisMachine.test(origin) ? { 'access-control-allow-origin': origin } : {}),
    });
    response.end(method === 'HEAD' ? undefined : answer.body);
  }

  async #read(path: string): Promise<ProbeAnswer> {
    const known = this.#paths.find((each) => each === path);
    if (known === undefined) {
      const others = this.#paths.slice(0, -1).join(', ');
      return { status: 404, body: `there are ${others} and ${this.#paths.at(-1)}\n` };
    }
    try {
      return await this.#answer(known);
    } catch (error) {
      return { status: 500, body: `${isError(error) ? error.message : String(error)}\n` };
    }
  }
}
