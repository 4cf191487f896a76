/** Classes of requests, and the choice of a request's class by function, header or route. */
import type { IncomingMessage } from 'node:http';
import { choice, record } from '@millrace/base/schema';

/**
 * Importance of a request. `high`, `normal` and `low` are served in this order when there is a queue; `exempt` ones (health,
 * metrics) run as they come and are never shed.
 */
export type RequestClass = 'high' | 'normal' | 'low' | 'exempt';

/** Index of a class in the guard's tables. */
export type ClassIndex = 0 | 1 | 2 | 3;

export const high = 0;
const normal = 1;
export const low = 2;
export const exempt = 3;

export const classes: readonly ClassIndex[] = [high, normal, low, exempt];

export const classNames: readonly RequestClass[] = ['high', 'normal', 'low', 'exempt'];

/** Returns the index of a class; undefined for any other text. */
export function toClassIndex(name: unknown): ClassIndex | undefined {
  const index = classNames.indexOf(name as RequestClass);
  return index < 0 ? undefined : (index as ClassIndex);
}

/** Usual paths of health checks and metrics, by which operators and orchestrators know whether a server lives. */
const alwaysExempt = ['/health', '/healthz', '/livez', '/readyz', '/metrics', '/status'];

interface Pattern {
  /** Upper case; empty for any. */
  readonly method: string;
  readonly path: string;
  /** True if the pattern ended with `*`: `path` is then a prefix. */
  readonly isPrefix: boolean;
  readonly cls: ClassIndex;
}

/** Finds the class of a route by its method and path: the longest pattern that matches, one with a method before one without. */
export class ClassPatterns {
  readonly #patterns: readonly Pattern[];

  constructor(given: Readonly<Record<string, RequestClass>>) {
    const all: Pattern[] = [];
    const seen = new Set<string>();
    const pairs: [string, RequestClass][] = Object.entries(given);
    for (const path of alwaysExempt) pairs.push([path, 'exempt']);
    for (const [text, name] of pairs) {
      const pattern = parse(text, name);
      // Of equal patterns the first is the user's.
      const key = `${pattern.method} ${pattern.path} ${pattern.isPrefix}`;
      if (seen.has(key)) continue;
      seen.add(key);
      all.push(pattern);
    }
    this.#patterns = all.sort(
      (a, b) =>
        Number(a.isPrefix) - Number(b.isPrefix) ||
        b.path.length - a.path.length ||
        b.method.length - a.method.length,
    );
  }

  classOf(method: string, path: string): ClassIndex {
    for (const { method: only, path: start, isPrefix, cls } of this.#patterns) {
      if (only !== '' && only !== method) continue;
      if (isPrefix ? path.startsWith(start) : path === start) return cls;
    }
    return normal;
  }
}

const patternOf = (text: string) => /^(?:([A-Za-z-]+) +)?((?:\/[^ *]*)|\*)(\*?)$/.exec(text);

/** The option `classes`. */
export const classesField = record<Record<string, RequestClass>, RequestClass>(
  choice(classNames),
  'an object of patterns and classes',
  {
    wanted:
      "paths, as '/reports', how paths begin, as '/reports/*', or either after a method, as 'GET /reports'",
    fits: (text) => patternOf(text as string) !== null,
  },
);

function parse(text: string, name: RequestClass): Pattern {
  const [, method = '', path = '', star] = patternOf(text)!;
  const isAny = path === '*';
  return {
    method: method.toUpperCase(),
    path: isAny ? '' : path,
    isPrefix: isAny || star === '*',
    cls: toClassIndex(name)!,
  };
}

/** Returns the class in a client's header. A client cannot choose `exempt`, which would disable the guard. */
export function classInHeader(req: IncomingMessage, header: string): ClassIndex | undefined {
  const value = req.headers[header];
  if (typeof value !== 'string') return undefined;
  const cls = toClassIndex(value.trim().toLowerCase());
  return cls === exempt ? undefined : cls;
}
