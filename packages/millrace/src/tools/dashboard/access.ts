/**
 * Access to the dashboard: the checks before a request is handled. Without a token only this machine may enter,
 * by its own name: a page whose own name was pointed at 127.0.0.1 (DNS rebinding) sends that name. With a token the name is not checked,
 * since such a page has no cookie of ours, and a proxy may have its own. After many wrong tokens from one address all tokens are refused
 * for a while, even a right one: otherwise guessing could go on. A page of another site may neither read nor change anything.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from '@millrace/base/timers';
import { isLoopback } from './options.js';

const windowMs = 60_000;
const mostWrong = 20;
/** Addresses remembered at most; the oldest are forgotten. */
const mostAddresses = 1024;

/** Headers of every response. They also exclude foreign content from the page. */
export const securityHeaders = {
  'Content-Security-Policy':
    // The watches of this machine's processes answer while the process that serves the page is blocked.
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' http://127.0.0.1:* http://localhost:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Rules of entry. */
export interface Door {
  readonly port: number;
  readonly token: string | null;
  readonly attempts: RateLimit;
}

/** Reports whether this request may enter; answers it if not. */
export function mayEnter(
  { token, port, attempts }: Door,
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
  const seconds = attempts.waitSeconds(remoteAddress);
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
  if (given !== null || shown.some((each) => each !== undefined)) attempts.wrong(remoteAddress);
  refuse(response, 401, 'the token is missing or wrong: open /?token=…, or send it as Bearer', {
    'WWW-Authenticate': 'Bearer',
  });
  return false;
}

/** Reports whether the Host header names this machine. */
function isLoopbackHost(request: IncomingMessage): boolean {
  const host = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(request.headers.host ?? '');
  return host !== null && isLoopback(host[1] ?? host[2]!);
}

/**
 * Reports whether a request that changes something comes from the page itself, or from no browser. Where browsers say so
 * themselves (on this machine, and with TLS), that counts: a proxy may have put another name into Host.
 */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined) return site === 'same-origin';
  return (
    origin === undefined ||
    origin === `http://${headers.host}` ||
    origin === `https://${headers.host}`
  );
}

/** Compares in constant time, so that the time does not reveal the place of a difference. */
export function sameToken(given: string | undefined, token: string): boolean {
  if (given === undefined) return false;
  const [a, b] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a!, b!);
}

export function bearer({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * Returns the name of this port's cookie: a host's cookies are sent to all of its ports. `Lax`: a user who follows a link to
 * the page from another site (a chat, a wiki) may enter; requests that such a site sends by itself may not.
 */
const cookieName = (port: number) => `millrace_dashboard_${port}`;

function tokenCookie(token: string, port: number): string {
  return `${cookieName(port)}=${encodeURIComponent(token)}; HttpOnly; SameSite=Lax; Path=/`;
}

function cookieToken({ headers }: IncomingMessage, port: number): string | undefined {
  for (const pair of headers.cookie?.split(/;\s*/) ?? []) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at) !== cookieName(port)) continue;
    try {
      return decodeURIComponent(pair.slice(at + 1));
    } catch {
      return undefined;
    }
  }
  return undefined;
}

interface Window {
  begunMs: number;
  wrong: number;
}

/** Counts wrong tokens by address: only a limited number a minute is checked. */
export class RateLimit {
  /** Windows in the order in which they began. */
  readonly #windows = new Map<string, Window>();

  /** Returns the seconds for which this address may not try; 0: it may. */
  waitSeconds(address = '', nowMs = performance.now()): number {
    const window = this.#current(address, nowMs);
    if (window === undefined || window.wrong < mostWrong) return 0;
    return Math.ceil((window.begunMs + windowMs - nowMs) / 1000);
  }

  /** Counts a wrong token from this address. */
  wrong(address = '', nowMs = performance.now()): void {
    const window = this.#current(address, nowMs);
    if (window !== undefined) {
      window.wrong++;
      return;
    }
    this.#windows.set(address, { begunMs: nowMs, wrong: 1 });
    if (this.#windows.size > mostAddresses) {
      this.#windows.delete(this.#windows.keys().next().value!);
    }
  }

  #current(address: string, nowMs: number): Window | undefined {
    const window = this.#windows.get(address);
    if (window === undefined || nowMs - window.begunMs < windowMs) return window;
    this.#windows.delete(address);
    return undefined;
  }
}

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': length }).end(body);
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  send(response, status, 'application/json', JSON.stringify(body));
}

/** Refuses a request and closes its connection, as connections are limited. */
export function refuse(
  response: ServerResponse,
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.setHeader('Connection', 'close');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, status, { error });
}
