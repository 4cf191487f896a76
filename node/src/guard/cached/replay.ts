/** Gives an answer to somebody else. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { conditionOf, header, isNotModified } from './conditional.js';
import type { Answer } from './copy.js';
import { makeBodyless } from './recording.js';

/** How old an answer is, if it is a kept one. */
interface Age {
  readonly seconds: number;
  readonly isStale: boolean;
}

const staleWarning = '110 - "Response is Stale"';

/** Answers, and says whether with a 304. Headers that others have set on the response stay, unless the answer has them too. */
export function replay(
  req: IncomingMessage,
  res: ServerResponse,
  answer: Answer,
  age: Age | null,
): boolean {
  const { status, message, headers, removed, body } = answer;
  for (const name of removed) res.removeHeader(name);
  for (const [name, value] of headers) res.setHeader(name, value as string | string[]);
  if (age !== null) {
    // It may have been somebody else's copy before.
    const before = Number(header(headers, 'age'));
    res.setHeader('Age', Math.floor(age.seconds + (before > 0 ? before : 0)));
    if (age.isStale) {
      const others = (res.getHeader('Warning') ?? []) as string | string[];
      res.setHeader('Warning', [others, staleWarning].flat());
    }
  }
  const condition = status >= 200 && status < 300 ? conditionOf(req) : null;
  if (condition !== null && isNotModified(condition, answer)) {
    makeBodyless(req, res);
    res.end();
    return true;
  }
  res.statusCode = status;
  if (message !== '' && req.httpVersionMajor < 2) res.statusMessage = message;
  if (req.method !== 'HEAD') {
    // Some servers throw if there is a body, be it empty, where none may be.
    if (body === null || body.length === 0 || status === 204) res.end();
    else res.end(body);
    return false;
  }
  if (body !== null && status !== 204 && header(headers, 'content-length') === undefined) {
    res.setHeader('Content-Length', body.length);
  }
  res.end();
  return false;
}

/** Nobody waits for an answer any more, or somebody has begun to give it. */
export function isTaken(req: IncomingMessage, res: ServerResponse): boolean {
  return res.headersSent || res.writableEnded || res.destroyed || req.socket?.destroyed === true;
}
