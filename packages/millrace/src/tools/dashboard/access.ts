/** Who may ask: the checks of each request, before anything else is done for it. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from './options.js';

/** A page of another site in the same browser must not read or change anything, and nothing may be put into this one. */
export const securityHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/**
 * Whether the Host header names this machine. A page whose own name was pointed at 127.0.0.1 (DNS rebinding) sends that name.
 */
export function isLoopbackHost(request: IncomingMessage): boolean {
  const host = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(request.headers.host ?? '');
  return host !== null && isLoopback(host[1] ?? host[2]!);
}

/**
 * Whether a request that changes something comes from the page itself, or from no browser. Where browsers say so themselves
 * (on this machine, and with TLS), that counts: a proxy may have put another name into Host.
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

/** Compares in a time that tells nothing about where they differ. */
export function sameToken(given: string | undefined, token: string): boolean {
  if (given === undefined) return false;
  const [a, b] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a!, b!);
}

export function bearer({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * The cookies of a host are sent to all of its ports: so each port has one of its own. `Lax`: somebody who follows a link to
 * the page from another site (a chat, a wiki) is let in; what such a site sends by itself is not.
 */
const cookieName = (port: number) => `millrace_dashboard_${port}`;

export function tokenCookie(token: string, port: number): string {
  return `${cookieName(port)}=${encodeURIComponent(token)}; HttpOnly; SameSite=Lax; Path=/`;
}

export function cookieToken({ headers }: IncomingMessage, port: number): string | undefined {
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
