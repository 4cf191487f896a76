import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameOrigin } from './access.js';
import { refuse, sendJson } from './answer.js';
import type { Hub } from './hub.js';

const longestBytes = 4096;

/** Answers a request to switch a feature. Rejects when the client goes before the end of its body. */
export async function switchFeature(
  hub: Hub,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isSameOrigin(request)) return refuse(response, 403, 'only the page itself may switch');
  // No form of another site can send this type without being asked first.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    return refuse(response, 415, 'the body must be application/json');
  }
  const body = await readBody(request);
  if (body === null) return refuse(response, 413, 'the body is too long');
  const { process, feature, on } = parse(body);
  if (typeof process !== 'string' || typeof feature !== 'string' || typeof on !== 'boolean') {
    return refuse(response, 400, 'the body must be { "process": id or "all", "feature", "on" }');
  }
  const switched = await hub.switch(process, feature, on);
  if (switched.length === 0) {
    return refuse(response, 404, `no process ${process} that has the feature ${feature} is there`);
  }
  const failed = switched.every(({ error }) => error !== undefined);
  sendJson(response, failed ? 409 : 200, { switched });
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The body of a request as text; null when it is too long. Rejects when the client goes before its end. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > longestBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
