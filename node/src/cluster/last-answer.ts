/** HTTP connections that are not kept alive any more. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Each answer is the last one on its connection. */
export function closeAfterAnswer(server: Server): void {
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    if (req.httpVersionMajor === 1) res.setHeader('Connection', 'close');
  });
}
