import { type AddressInfo, createServer, type Server } from 'node:net';
import { Refusal } from '@millrace/base/command';

/** A port that this process listens on, for the application that takes the socket over. */
export interface Listening {
  readonly port: number;
  /** The file descriptor of the socket; null on Windows, where no other process can inherit it. */
  readonly fd: number | null;
  /** Closes the socket here. */
  close(): void;
}

/**
 * Listens for the dashboard: on the requested port, or without a request on the usual one if it is free, or on any that is free. The
 * socket is kept until the application has it, so that nobody else gets the port meanwhile.
 *
 * @throws {Refusal} the requested port is taken, or there is no such address here
 */
export async function listenOn(
  host: string,
  wanted: number | undefined,
  usual: number,
): Promise<Listening> {
  try {
    return await listen(host, wanted ?? usual);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && wanted === undefined) return listen(host, 0);
    if (code === 'EADDRINUSE') {
      throw new Refusal(`port ${wanted} of ${host} is taken; without --port a free one is chosen.`);
    }
    throw new Refusal(`the dashboard cannot listen on ${host}: ${message}.`);
  }
}

function listen(host: string, port: number): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const { port: bound } = server.address() as AddressInfo;
      // Node.js has no other way to a socket's descriptor.
      const { _handle: handle } = server as Server & { _handle?: { fd?: number } };
      const fd = handle?.fd ?? -1;
      resolve({ port: bound, fd: fd < 0 ? null : fd, close: () => server.close() });
    });
  });
}
