/** Conditional requests: whoever has the answer already is told so, without its body (RFC 9110, section 13). */
import type { IncomingMessage } from 'node:http';
import type { Answer, HeaderField } from './copy.js';

/** What a client has, as it says. */
export interface Condition {
  readonly noneMatch: string | undefined;
  readonly modifiedSince: string | undefined;
}

/** Of a GET or HEAD; what the conditions of other methods ask for is no 304. */
export function conditionOf({ method, headers }: IncomingMessage): Condition | null {
  if (method !== 'GET' && method !== 'HEAD') return null;
  const noneMatch = headers['if-none-match'];
  const modifiedSince = headers['if-modified-since'];
  if (noneMatch === undefined && modifiedSince === undefined) return null;
  return { noneMatch, modifiedSince };
}

/** Whether that is what the answer would bring. */
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

/** Headers that tell about a body, which a 304 has not. */
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

/** The tags of a list, without the mark of weak ones: here they are compared alike. */
function tags(list: string): string[] {
  return (list.match(/(?:W\/)?"[^"]*"/g) ?? []).map(weak);
}

function weak(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
