import type { IncomingMessage, ServerResponse } from 'node:http';
import { bearer, cookieToken, isLoopbackHost, sameToken, tokenCookie } from './access.js';
import { refuse } from './answer.js';
import type { Guesses } from './guesses.js';

/** What an entry is judged by. */
export interface Door {
  readonly port: number;
  readonly token: string | null;
  readonly guesses: Guesses;
}

/**
 * Whether this request may enter; one that may not has its answer then. Without a token the Host header must name this
 * machine. With a token that is not needed, since a page of another name has no cookie of ours, and a proxy may have its own name.
 * After many wrong tokens from one address, none is looked at for a while, not even a right one: otherwise guessing could go on.
 */
export function mayEnter(
  { token, port, guesses }: Door,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (token === null) {
    if (isLoopbackHost(request)) return true;
    refuse(response, 403, 'the Host header does not name this machine: use 127.0.0.1');
    return false;
  }
  const { remoteAddress } = request.socket;
  const seconds = guesses.waitSeconds(remoteAddress);
  if (seconds > 0) {
    refuse(response, 429, `too many wrong tokens: wait for ${seconds} s`, {
      'Retry-After': String(seconds),
    });
    return false;
  }
  const given = url.searchParams.get('token');
  if (given !== null && url.pathname === '/' && sameToken(given, token)) {
    // The browser goes on without the token in its address.
    response.setHeader('Set-Cookie', tokenCookie(token, port));
    response.writeHead(303, { Location: './' }).end();
    return false;
  }
  const shown = [bearer(request), cookieToken(request, port)];
  if (shown.some((each) => sameToken(each, token))) return true;
  // A request without a token is not a guess.
  if (given !== null || shown.some((each) => each !== undefined)) guesses.wrong(remoteAddress);
  refuse(response, 401, 'the token is missing or wrong: open /?token=…, or send it as Bearer', {
    'WWW-Authenticate': 'Bearer',
  });
  return false;
}
