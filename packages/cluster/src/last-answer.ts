/** HTTP connections that are not kept alive any more. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Each answer is the last one on its connection. */
export function closeAfterAnswer(server: Server): void {
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    if (req.httpVersionMajor === 1) closeAfter(res);
  });
}

/** This answer, of which nothing has been sent, is the last one, whatever the application says. */
export function closeAfter(res: ServerResponse): void {
  const { writeHead } = res;
  // It writes all heads, including those that Node.js writes by itself.
  res.writeHead = (...args: unknown[]) => {
    const at = args.findIndex((arg) => typeof arg === 'object' && arg !== null);
    // Nothing else is touched: Node.js loses cookies when headers that were set meet others in an array.
    if (at < 0) res.setHeader('Connection', 'close');
    else args[at] = withClose(args[at] as object);
    return writeHead.apply(res, args as Parameters<typeof writeHead>);
  };
}

/** Headers for `writeHead()`: an object, or an array of names and values, or of pairs. */
function withClose(headers: object): object {
  const isOther = (name: unknown) => String(name).toLowerCase() !== 'connection';
  if (!Array.isArray(headers)) {
    const others = Object.entries(headers).filter(([name]) => isOther(name));
    return { ...Object.fromEntries(others), Connection: 'close' };
  }
  const flat: unknown[] = Array.isArray(headers[0]) ? headers.flat(1) : headers;
  return [...flat.filter((_, i) => isOther(flat[i - (i % 2)])), 'Connection', 'close'];
}
