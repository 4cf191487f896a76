import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import { markOwn } from '../../auto/sockets.cjs';
import { bearer, sameToken } from './access.js';
import { protocol } from './feed.js';
import { Feed } from './feed-server.js';
import { pageFiles } from './files.js';
import { Guesses } from './guesses.js';
import { handle } from './handler.js';
import { Hub, mostMembers } from './hub.js';
import { type DashboardOptions, dashboardOptions } from './options.js';
import { Places } from './places.js';
import { thisProcess } from './sample.js';
import { Sampler } from './sampler.js';

/** How long a client may take to send what it has to say. */
const patienceMs = 10_000;

/** A dashboard that is served. */
export interface Dashboard {
  /** Address of the page. With a token, add `?token=…` to it once. */
  readonly url: string;
  /** The port that it listens on, also if 0 was requested. */
  readonly port: number;
  /** Token of the processes that feed it. */
  readonly feedToken: string;
  /** Ends the server and its connections. */
  close(): Promise<void>;
}

/**
 * Serves the dashboard of this process and of those that feed it. Keeps nothing alive. Nothing is sampled until somebody
 * opens the page; then each process is, once a second.
 *
 * Rejects with `MILLRACE_E_INVALID_OPTION` when an option is wrong or an address that others can reach has no token, and with the
 * error of `listen()` when the address cannot be had: `EADDRINUSE` when the port is taken; with `MILLRACE_E_BUNDLED` in a bundle that
 * finds no installed package.
 */
export async function serveDashboard(options: DashboardOptions = {}): Promise<Dashboard> {
  const { host, port: wanted, token, ...others } = dashboardOptions(options);
  pageFiles();
  const { fd, feedToken = randomBytes(16).toString('hex') } = others;
  const hub = new Hub();
  const places = new Places(mostMembers + 100);
  const guesses = new Guesses();
  let port = wanted;
  // A client that connects and says nothing, or says it slowly, must not keep others out.
  const server = markOwn(
    createServer({
      keepAliveTimeout: 30_000,
      headersTimeout: patienceMs,
      requestTimeout: patienceMs,
      connectionsCheckingInterval: patienceMs,
    }),
  ).unref();
  server.on('connection', (socket: Socket) => {
    markOwn(socket).unref();
    places.add(socket);
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    places.heard(socket);
    response.on('close', () => places.answered(socket));
    // A client went away while it sent its body.
    handle({ hub, port, token, guesses }, request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {});
    places.heard(socket);
    const isFeed = request.url === '/feed' && request.headers.upgrade === protocol;
    if (!isFeed || !sameToken(bearer(request), feedToken)) {
      socket.end(
        `HTTP/1.1 ${isFeed ? '401 Unauthorized' : '404 Not Found'}\r\nConnection: close\r\n\r\n`,
      );
      return;
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
    );
    new Feed(socket, hub);
    if (head.length > 0) socket.unshift(head);
  });
  // A worker of node:cluster has a server of its own as well.
  server.listen(fd === undefined ? { host, port: wanted, exclusive: true } : { fd });
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);

  const sampler = new Sampler(thisProcess('main'), options);
  hub.join(sampler.process, sampler.features(), {
    sample: async () => sampler.sample(),
    switch: async (feature, on) => sampler.switch(feature, on),
    dropped: 0,
    close() {},
  });
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}/`,
    port,
    feedToken,
    close: () =>
      new Promise((resolve) => {
        hub.close();
        server.close(() => resolve());
        places.closeAll();
      }),
  };
}
