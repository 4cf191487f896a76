import { createServer } from 'node:net';
import { Refusal } from './usage.js';

/**
 * A port for the dashboard: the requested one, or without a request the usual one if it is free, or any that is free.
 *
 * @throws {Refusal} the requested one is taken, or there is no such address here
 */
export async function choosePort(
  host: string,
  wanted: number | undefined,
  usual: number,
): Promise<number> {
  try {
    return await listenOnce(host, wanted ?? usual);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && wanted === undefined) return listenOnce(host, 0);
    if (code === 'EADDRINUSE') {
      throw new Refusal(`port ${wanted} of ${host} is taken; without --port a free one is chosen.`);
    }
    throw new Refusal(`the dashboard cannot listen on ${host}: ${message}.`);
  }
}

function listenOnce(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const { port: bound } = server.address() as { port: number };
      server.close(() => resolve(bound));
    });
  });
}
