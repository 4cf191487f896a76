import type { IncomingMessage } from 'node:http';

const longestBytes = 4096;

/** The body of a request as text; null when it is too long. Rejects when the client goes before its end. */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > longestBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
