/** Decides which responses are shared with others, and which are kept (RFC 9111, section 3). */
import { type Answer, header } from './answer.js';

/**
 * Reason why a response is for its own request alone. `setCookie`: it may name a person; `cacheControl`: it says `no-store`,
 * `private` or `no-cache`, or cannot be parsed; `vary`: it says `Vary: *`, or something that names no headers; `partial`: it
 * is a part of something, or no answer in itself (1xx, 206, 304); `size`: it is above `maxBytes`; `length`: its body is not
 * as long as it said; `stream`: it is a stream of events, or has trailers.
 */
export type Unshared =
  | 'setCookie'
  | 'cacheControl'
  | 'vary'
  | 'partial'
  | 'size'
  | 'length'
  | 'stream';

export const unsharedReasons: readonly Unshared[] = [
  'setCookie',
  'cacheControl',
  'vary',
  'partial',
  'size',
  'length',
  'stream',
];

/**
 * Returns the reason why the response with this status and these headers is for its own request alone; null if it may be
 * shared.
 */
export function unshared(
  head: Pick<Answer, 'status' | 'headers'>,
  maxBytes: number,
): Unshared | null {
  const { status, headers } = head;
  if (isPartial(status)) return 'partial';
  if (header(headers, 'set-cookie') !== undefined) return 'setCookie';
  const directives = cacheControl(head);
  if (['no-store', 'private', 'no-cache'].some((name) => directives.includes(name))) {
    return 'cacheControl';
  }
  if (varyNames(head).some((name) => !token.test(name) || name === '*')) return 'vary';
  if (header(headers, 'trailer') !== undefined) return 'stream';
  if (header(headers, 'content-type')?.toLowerCase().startsWith('text/event-stream'))
    return 'stream';
  if (Number(header(headers, 'content-length') ?? 0) > maxBytes) return 'size';
  return null;
}

export function isPartial(status: number): boolean {
  return status < 200 || status === 206 || status === 304;
}

/** Reports whether a kept response may be used past its `ttl`: not if it says that it must be validated first. */
export function mayBeStale(head: Pick<Answer, 'headers'>): boolean {
  const directives = cacheControl(head);
  return !directives.includes('must-revalidate') && !directives.includes('proxy-revalidate');
}

/** Returns the names of the request headers in `Vary`, in lower case. */
export function varyNames(head: Pick<Answer, 'headers'>): string[] {
  return values(head, 'vary').flatMap((value) =>
    value
      .toLowerCase()
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  );
}

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Matches a directive and its separator: `token`, `token=token` or `token="text"` (RFC 9111, section 5.2). */
const directive =
  /[ \t,]*([!#$%&'*+.^_`|~0-9a-z-]+)(?:=(?:[!#$%&'*+.^_`|~0-9a-z-]+|"(?:[^"\\]|\\.)*"))?[ \t]*(?:,|$)|[ \t,]+$/gy;

/**
 * Returns the directives of Cache-Control, without their arguments: one for some headers only counts for the whole response. Text that
 * cannot be parsed counts as `private`, as it may mean anything.
 */
function cacheControl(head: Pick<Answer, 'headers'>): string[] {
  return values(head, 'cache-control').flatMap((value) => {
    const found = [...value.toLowerCase().matchAll(directive)];
    const parsed = found.reduce((length, [text]) => length + text.length, 0);
    const names = found.flatMap(([, name]) => name ?? []);
    return parsed === value.length ? names : [...names, 'private'];
  });
}

/** Returns all values of a header, which may have several fields. */
function values(head: Pick<Answer, 'headers'>, name: string): string[] {
  return head.headers.filter(([each]) => each.toLowerCase() === name).flatMap(([, value]) => value);
}
