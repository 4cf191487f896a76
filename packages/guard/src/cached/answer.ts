/** Response of a handler, in the form for sharing and keeping; and conditional requests for it. */
import { type IncomingMessage, validateHeaderName, validateHeaderValue } from 'node:http';

/** Header value, or several of one name. */
export type HeaderField = readonly [name: string, value: string | readonly string[]];

/** Response of a handler. */
export interface Answer {
  readonly status: number;
  /** Reason phrase, if the handler chose one. */
  readonly message: string;
  /** Headers that the handler set; those that others set on the response before it ran are excluded. */
  readonly headers: readonly HeaderField[];
  /** Names of headers set before, which the handler removed. */
  readonly removed: readonly string[];
  /** Null for the response to a HEAD, whose body is unknown. */
  readonly body: Buffer | null;
}

/** Kept response. */
export interface Copy extends Answer {
  /** Time of its completion, in ms of the store's clock. */
  readonly at: number;
  /** True if it may be served after its `ttl`. */
  readonly mayBeStale: boolean;
}

/** Returns the age in ms; never negative, even if clocks of several machines differ or a clock was set back. */
export function ageOf(copy: Copy, now: number): number {
  return Math.max(0, now - copy.at);
}

/** Returns the approximate bytes of a copy. */
export function sizeOf(copy: Copy): number {
  let bytes = 256 + copy.message.length * 2 + (copy.body?.length ?? 0);
  for (const [name, value] of copy.headers) {
    bytes += 2 * (name.length + (typeof value === 'string' ? value.length : value.join().length));
  }
  return bytes;
}

/** Returns a copy in the form for a store outside of the process: JSON has no bytes. */
export function encode(copy: Copy): object {
  return { ...copy, body: copy.body?.toString('base64') ?? null };
}

/** Parses a copy from a store; undefined if it is something else, as other programs may write to the same store. */
export function decode(value: unknown): Copy | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { status, message, headers, removed, body, at, mayBeStale } = value as Record<
    keyof Copy,
    unknown
  >;
  const isCopy =
    Number.isInteger(status) &&
    (status as number) >= 200 &&
    (status as number) <= 999 &&
    typeof message === 'string' &&
    isSendable('x', message) &&
    Array.isArray(headers) &&
    headers.every(isHeaderField) &&
    isTexts(removed) &&
    (body === null || typeof body === 'string') &&
    Number.isFinite(at) &&
    typeof mayBeStale === 'boolean';
  if (!isCopy) return undefined;
  const bytes = body === null ? null : Buffer.from(body as string, 'base64');
  return { status, message, headers, removed, body: bytes, at, mayBeStale } as Copy;
}

function isHeaderField(field: unknown): boolean {
  if (!Array.isArray(field) || field.length !== 2) return false;
  const [name, value] = field;
  const values = Array.isArray(value) ? value : [value];
  return isTexts([name, ...values]) && values.every((each) => isSendable(name, each));
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

// ---- conditional requests: a client that already has the response gets a 304 without its body (RFC 9110, section 13)

/** Conditions of a request: the copy that the client claims to have. */
export interface Condition {
  readonly noneMatch: string | undefined;
  readonly modifiedSince: string | undefined;
}

/** Returns the conditions of a GET or HEAD; those of other methods do not lead to a 304. */
export function conditionOf({ method, headers }: IncomingMessage): Condition | null {
  if (method !== 'GET' && method !== 'HEAD') return null;
  const noneMatch = headers['if-none-match'];
  const modifiedSince = headers['if-modified-since'];
  if (noneMatch === undefined && modifiedSince === undefined) return null;
  return { noneMatch, modifiedSince };
}

/** Reports whether the client has the response already. */
export function isNotModified(condition: Condition, answer: Pick<Answer, 'headers'>): boolean {
  const { noneMatch, modifiedSince } = condition;
  if (noneMatch !== undefined) {
    const tag = header(answer.headers, 'etag');
    if (tag === undefined) return false;
    return noneMatch.trim() === '*' || tags(noneMatch).includes(weak(tag));
  }
  const lastModified = header(answer.headers, 'last-modified');
  if (lastModified === undefined || modifiedSince === undefined) return false;
  return Date.parse(lastModified) <= Date.parse(modifiedSince);
}

/** Headers that describe a body, which a 304 lacks. */
export const bodyHeaders: readonly string[] = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-range',
  'transfer-encoding',
  'trailer',
];

export function header(headers: readonly HeaderField[], name: string): string | undefined {
  const field = headers.find(([each]) => each.toLowerCase() === name);
  if (field === undefined) return undefined;
  const [, value] = field;
  return typeof value === 'string' ? value : value.join(', ');
}

/** Returns the tags of a list, without the mark of weak ones: here they are compared alike. */
function tags(list: string): string[] {
  return (list.match(/(?:W\/)?"[^"]*"/g) ?? []).map(weak);
}

function weak(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
