/** Decides which requests are the same, and which are private. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MillraceError, show } from '@millrace/base/errors';
import type { CompleteOptions } from './options.js';
import { Lru } from './store.js';

/**
 * Reason why a request goes to the handler as if there were no cache. `authorization`, `cookie`: it says who asks, and the
 * default key does not; `authority`: it names two hosts, `:authority` and `host`, and the handler may look at either;
 * `range`, `conditional`: it asks for a part, or only if something holds; `body`: it has one, and the default key knows the
 * URL alone; `method`: not one of `methods`; `key`: the function `key` gave none; `sent`: others have begun to answer it;
 * `unshared`: its answers were for one request alone, lately.
 */
export type Bypass =
  | 'method'
  | 'authorization'
  | 'cookie'
  | 'authority'
  | 'range'
  | 'conditional'
  | 'body'
  | 'key'
  | 'sent'
  | 'unshared';

export const bypassReasons: readonly Bypass[] = [
  'method',
  'authorization',
  'cookie',
  'authority',
  'range',
  'conditional',
  'body',
  'key',
  'sent',
  'unshared',
];

/** Longest key kept as it is; longer ones become a digest: a URL can have 16 KB, and there are thousands. */
const maxLength = 256;

/** Most names in `Vary` per identity; more count as all headers, so that no other request is the same. */
const maxNames = 32;

/** Parts of a request in its key, besides the identity. */
export type Asked = Pick<IncomingMessage, 'method' | 'headers'>;

export class Keys {
  readonly #options: CompleteOptions;
  /** Header names from `Vary` by identity. */
  readonly #names: Lru<readonly string[]>;

  constructor(options: CompleteOptions) {
    this.#options = options;
    this.#names = new Lru(options.size);
  }

  /** Returns the identity of the requested resource, apart from the method and from headers that responses vary by. */
  identify(req: IncomingMessage): { id: string } | { bypass: Bypass } {
    const { methods, key } = this.#options;
    const { headers } = req;
    if (!methods.includes(req.method ?? '')) return { bypass: 'method' };
    if (headers.range !== undefined) return { bypass: 'range' };
    if (['if-match', 'if-unmodified-since'].some((name) => headers[name] !== undefined)) {
      return { bypass: 'conditional' };
    }
    if (key !== null) {
      const id = key(req);
      if (id === undefined || id === null) return { bypass: 'key' };
      if (typeof id === 'string') return { id: short(id) };
      throw new MillraceError(
        'MILLRACE_E_BAD_RESULT',
        `option 'key' returned ${show(id)}; it must return a string, or undefined for none`,
      );
    }
    if (headers.authorization !== undefined) return { bypass: 'authorization' };
    if (headers.cookie !== undefined) return { bypass: 'cookie' };
    const { host, ':authority': authority = host } = headers;
    if (host !== undefined && host !== authority) return { bypass: 'authority' };
    const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
    if (coding !== undefined || length !== '0' || hasHttp2Body(req)) return { bypass: 'body' };
    return { id: short(target(req)) };
  }

  /** Returns the key of this request's response, by the known `Vary` headers. */
  of(asked: Asked, id: string, method = asked.method): string {
    const names = this.#namesOf(id);
    if (names.length === 0) return `${method} ${id}`;
    const values = names.map((name) => [name, asked.headers[name] ?? null]);
    // As JSON, as an identity may have any character; the separator distinguishes it from the one above.
    return `${method}\n${short(JSON.stringify([id, values]))}`;
  }

  /** Adds headers to future keys. Returns false if they are too many. */
  learn(id: string, names: readonly string[]): boolean {
    const known = this.#namesOf(id);
    const all = [...new Set([...known, ...names])].sort();
    if (all.length === known.length) return true;
    if (all.length > maxNames) return false;
    this.#names.set(id, all);
    return true;
  }

  #namesOf(id: string): readonly string[] {
    return this.#names.get(id) ?? this.#options.vary;
  }
}

/** Returns the URL of a request without its query. */
export function placeOf(req: IncomingMessage): string {
  const text = target(req);
  const end = text.indexOf('?', text.lastIndexOf('\n'));
  return short(end === -1 ? text : text.slice(0, end));
}

/** Headers that handlers may use for the scheme or the host: HTTP/2's own, and those of a trusted proxy. */
const alsoSeen = [':scheme', 'x-forwarded-proto', 'x-forwarded-host'];

/**
 * Returns the target as the client named it: applications of Express cut the path where they are mounted. One server has several hosts; a
 * client can put anything into their names but the end of a line.
 */
function target(req: IncomingMessage): string {
  const {
    originalUrl = req.url,
    headers,
    socket,
  } = req as IncomingMessage & {
    originalUrl?: string;
  };
  const scheme = (socket as { encrypted?: boolean } | null)?.encrypted === true ? 'https' : 'http';
  const lines = [`${scheme}://${headers[':authority'] ?? headers.host ?? ''}`];
  for (const name of alsoSeen) {
    const value = headers[name];
    if (value !== undefined) lines.push(`${name}: ${value}`);
  }
  return [...lines, originalUrl].join('\n');
}

/** Reports whether a request has a body. HTTP/2 tells its length with its end; a request without one ends with its headers. */
function hasHttp2Body(req: IncomingMessage): boolean {
  if (req.httpVersionMajor < 2) return false;
  return (req as { stream?: { endAfterHeaders?: boolean } }).stream?.endAfterHeaders !== true;
}

/** Returns a digest that differs for different texts: a text that looks like a digest becomes one too. */
function short(text: string): string {
  if (text.length <= maxLength && !text.startsWith('~')) return text;
  return `~${createHash('sha256').update(text).digest('base64url')}${text.slice(0, 64)}`;
}
