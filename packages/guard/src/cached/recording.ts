/** Records the response of a handler on its way to the client. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { isUint8Array } from '@millrace/base/realm';
import { clearTimeout, nextTick, performance, setTimeout } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import {
  type Answer,
  bodyHeaders,
  type Condition,
  conditionOf,
  type HeaderField,
  header,
  isNotModified,
} from './answer.js';
import { mayBeStale, type Unshared, unshared, varyNames } from './shareable.js';

/** Complete response, the names of the request headers in its `Vary`, and whether it may be used past its `ttl`. */
export interface Answered {
  kind: 'answer';
  answer: Answer;
  vary: readonly string[];
  mayBeStale: boolean;
}

/**
 * End of a handler's run, for the requests that wait for it. `alone`: its answer is not for others; `cut`: the connection of
 * the request that it ran for was closed first; `late`: it took longer than `timeout`.
 */
export type Run =
  | Answered
  | { kind: 'alone'; reason: Unshared }
  | { kind: 'error'; error: unknown }
  | { kind: 'cut' }
  | { kind: 'late' };

interface Limits {
  /** Most recorded bytes of a body. */
  maxBytes: number;
  /** In ms. */
  timeout: number;
}

/** Headers of one connection (RFC 9110, section 7.6.1), which are not passed on. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Headers that decide which requests may share a response. They count whichever code set them, and however late. */
const judging = new Set(['vary', 'cache-control']);

/** Least time in ms for a handler that has begun no response when its client leaves; else it gets as long again as it took so far. */
const minGrace = 1000;

/**
 * Records the client's own response: a handler's bytes leave at once. Data after the first complete response is ignored.
 * Until the end, two properties of the client are hidden from the handler, as they would affect the others too: the
 * conditions of its request, which are met here instead, and its slowness or its leaving: `write()` returns true.
 */
export class Recording {
  readonly done: Promise<Run>;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #before: OutgoingHttpHeaders;
  readonly #maxBytes: number;
  readonly #timer: NodeJS.Timeout;
  readonly #condition: Condition | null;
  /** Outer middleware has a `writeHead()` of its own. */
  readonly #isWrapped: boolean;
  readonly #begunMs = performance.now();
  #graceTimer: NodeJS.Timeout | undefined;
  #resolve!: (run: Run) => void;
  #isOver = false;
  #head: Omit<Answer, 'body'> | null = null;
  /** Headers that decide which requests may share the response. */
  #judged: HeaderField[] = [];
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** True if the client gets a 304 instead of the body. */
  #isBodyless = false;
  #isEnding = false;
  #body: Buffer | null | undefined;
  /** True after the head has left: from then on no header can restrict sharing. */
  #isSent = false;

  /** @param before headers that were set before the handler runs */
  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    before: OutgoingHttpHeaders,
    limits: Limits,
  ) {
    this.#req = req;
    this.#res = res;
    this.#before = before;
    this.#maxBytes = limits.maxBytes;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#timer = setTimeout(() => this.#end({ kind: 'late' }), limits.timeout);
    // A connection keeps the process alive as long as a request waits.
    this.#timer.unref();
    this.#condition = conditionOf(req);
    if (this.#condition !== null) {
      delete req.headers['if-none-match'];
      delete req.headers['if-modified-since'];
    }
    this.#isWrapped = Object.hasOwn(res, 'writeHead');
    this.#tap();
    res.once('finish', () => this.#takeSent());
    res.once('close', () => this.#closed());
  }

  /** Records that the handler threw or its promise was rejected. If the client left, that may be the cause. */
  failed(error: unknown): void {
    this.#end(this.#isGone ? { kind: 'cut' } : { kind: 'error', error });
  }

  /** Records that the handler returned or its promise was fulfilled; its response may still leave, unless the connection is closed. */
  returned(): void {
    if (this.#isOver || !this.#isGone) return;
    atTurnEnd(() => this.#end({ kind: 'cut' }));
  }

  #closed(): void {
    if (this.#isOver) return;
    // A streamed response usually stops when the client has left; handlers send a complete one even without a client.
    if (this.#head !== null || this.#res.headersSent) {
      this.#end({ kind: 'cut' });
      return;
    }
    // Or the handler has given up, or has closed the connection itself: then no response follows.
    const grace = Math.max(minGrace, performance.now() - this.#begunMs);
    this.#graceTimer = setTimeout(() => this.#end({ kind: 'cut' }), grace);
    this.#graceTimer.unref();
  }

  get #isGone(): boolean {
    return this.#res.destroyed || this.#req.socket?.destroyed === true;
  }

  #end(run: Run): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#graceTimer);
    this.#chunks = [];
    const { headers } = this.#req;
    const { noneMatch, modifiedSince } = this.#condition ?? {};
    if (noneMatch !== undefined) headers['if-none-match'] = noneMatch;
    if (modifiedSince !== undefined) headers['if-modified-since'] = modifiedSince;
    this.#resolve(run);
  }

  /** Wraps the methods of the response, which may be those of a middleware. */
  #tap(): void {
    const res = this.#res as any;
    const { writeHead, write, end, destroy } = res;

    res.writeHead = (status: number, ...rest: any[]) => {
      if (this.#isOver || this.#head !== null || !(status >= 200 && status <= 999)) {
        return this.#sending(() => writeHead.call(res, status, ...rest));
      }
      const message = typeof rest[0] === 'string' ? [rest.shift()] : [];
      setHeaders(
        res,
        rest.find((each) => each !== undefined && each !== null),
      );
      res.statusCode = status;
      if (message.length > 0) res.statusMessage = message[0];
      this.#takeHead();
      return this.#sending(() => {
        if (this.#isBodyless) return writeHead.call(res, res.statusCode);
        return writeHead.call(res, status, ...message);
      });
    };

    res.write = (chunk: any, encoding?: any, callback?: any) => {
      if (this.#isEnding || (this.#isOver && !this.#isBodyless)) {
        return write.call(res, chunk, encoding, callback);
      }
      this.#takeHead();
      let taken = true;
      if (this.#isBodyless || this.#isGone) notify(encoding, callback);
      else taken = write.call(res, chunk, encoding, callback);
      this.#takeSent();
      this.#keep(chunk, encoding);
      return this.#isOver ? taken : true;
    };

    res.end = (...args: any[]) => {
      if (this.#isEnding || (this.#isOver && !this.#isBodyless)) return end.apply(res, args);
      this.#takeHead();
      const callback = args.find((each) => typeof each === 'function');
      this.#isEnding = true;
      try {
        if (this.#isBodyless || this.#isGone) end.call(res, callback);
        else end.apply(res, args);
      } finally {
        this.#isEnding = false;
      }
      this.#takeSent();
      if (typeof args[0] !== 'function') this.#keep(args[0], args[1]);
      this.#complete();
      return res;
    };

    res.destroy = (...args: any[]) => {
      // Some responses destroy themselves at their end.
      if (!this.#isEnding) this.#end({ kind: 'cut' });
      return destroy.apply(res, args);
    };

    // The second exists in HTTP/2 only.
    for (const name of ['addTrailers', 'setTrailer'].filter((each) => each in res)) {
      const method = res[name];
      res[name] = (...args: any[]) => {
        this.#end({ kind: 'alone', reason: 'stream' });
        return method.apply(res, args);
      };
    }
  }

  /** Lets outer middleware send the head; it may set headers until then. */
  #sending<Result>(send: () => Result): Result {
    const result = send();
    this.#takeSent();
    return result;
  }

  /** Reads from a sent head which requests may share the response. */
  #takeSent(): void {
    const res = this.#res;
    if (this.#isOver || this.#isSent || this.#head === null || !res.headersSent) return;
    this.#isSent = true;
    const sent = sentFields(res);
    const before = [this.#before['set-cookie'] ?? []].flat().map(String);
    const cookies = sent.filter(([name]) => name.toLowerCase() === 'set-cookie');
    // Middleware may have set it at the last moment, because of the handler: sessions do.
    if (cookies.flatMap(([, value]) => value).some((cookie) => !before.includes(cookie))) {
      this.#end({ kind: 'alone', reason: 'setCookie' });
      return;
    }
    this.#judged.push(...sent.filter(([name]) => judging.has(name.toLowerCase())));
    const judged = this.#judged.filter(([name]) => judging.has(name.toLowerCase()));
    const reason = unshared({ status: this.#head.status, headers: judged }, this.#maxBytes);
    if (reason !== null) this.#end({ kind: 'alone', reason });
    else this.#finish();
  }

  /** Records status and headers, just before they are sent. */
  #takeHead(): void {
    if (this.#head !== null || this.#isOver) return;
    const res = this.#res;
    const all = fieldsOf(res);
    const own = ([name, value]: HeaderField) => !isSame(value, this.#before[name.toLowerCase()]);
    this.#judged = all.filter((field) => judging.has(field[0].toLowerCase()) || own(field));
    this.#head = {
      // Some handlers set a text.
      status: Number(res.statusCode),
      message: phraseOf(this.#req, res),
      headers: all.filter((field) => !hopByHop.has(field[0].toLowerCase()) && own(field)),
      removed: Object.keys(this.#before).filter((name) => !res.hasHeader(name)),
    };
    const { status } = this.#head;
    if (this.#condition !== null && status >= 200 && status < 300) {
      this.#isBodyless = isNotModified(this.#condition, this.#head);
    }
    if (this.#isBodyless) makeBodyless(this.#req, res);
    const reason = unshared({ status, headers: this.#judged }, this.#maxBytes);
    if (reason !== null) this.#end({ kind: 'alone', reason });
  }

  #keep(chunk: unknown, encoding: unknown): void {
    if (this.#isOver) return;
    // A copy: the handler may use its buffer again.
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : isUint8Array(chunk)
          ? Buffer.from(chunk)
          : null;
    if (bytes === null) return;
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) this.#end({ kind: 'alone', reason: 'size' });
    else this.#chunks.push(bytes);
  }

  #complete(): void {
    if (this.#isOver) return;
    const head = this.#head!;
    const hasBody = this.#req.method !== 'HEAD';
    const length = header(head.headers, 'content-length');
    if (hasBody && head.status !== 204 && length !== undefined && Number(length) !== this.#bytes) {
      this.#end({ kind: 'alone', reason: 'length' });
      return;
    }
    this.#body = hasBody ? Buffer.concat(this.#chunks) : null;
    if (!this.#isSent && this.#isGone) {
      // A head of HTTP/2 never leaves without a client, so middleware has no chance to restrict sharing.
      if (this.#isWrapped) this.#end({ kind: 'cut' });
      this.#isSent = true;
    }
    this.#finish();
  }

  /** Completes the recording: the body is whole, and the head has left. */
  #finish(): void {
    if (this.#isOver || !this.#isSent || this.#body === undefined) return;
    const head = { headers: this.#judged };
    this.#end({
      kind: 'answer',
      answer: { ...this.#head!, body: this.#body },
      vary: varyNames(head),
      mayBeStale: mayBeStale(head),
    });
  }
}

/** Returns the sent headers. `writeHead()` may have set some that `getHeader()` does not know. */
function sentFields(res: ServerResponse): HeaderField[] {
  // The text of the head is not in the types; HTTP/2 has none, but the second.
  const { _header: text, stream } = res as unknown as {
    _header?: unknown;
    stream?: { sentHeaders?: OutgoingHttpHeaders };
  };
  const fields = fieldsOf(res);
  if (typeof text === 'string') {
    for (const line of text.split('\r\n').slice(1)) {
      const end = line.indexOf(':');
      if (end > 0) fields.push([line.slice(0, end), line.slice(end + 1).trim()]);
    }
  }
  for (const [name, value] of Object.entries(stream?.sentHeaders ?? {})) {
    if (value !== undefined) fields.push([name, texts(value)]);
  }
  return fields;
}

/** Returns all headers of a response, with their names as given. */
function fieldsOf(res: ServerResponse): HeaderField[] {
  // Not in the types of this release; and Http2ServerResponse has no names in their own case.
  const { getRawHeaderNames = res.getHeaderNames } = res as { getRawHeaderNames?(): string[] };
  return getRawHeaderNames.call(res).map((name) => [name, texts(res.getHeader(name))]);
}

/** Sets the headers as `writeHead` itself does, but so that they can be read. */
function setHeaders(res: ServerResponse, given: OutgoingHttpHeaders | unknown[] | undefined): void {
  if (given === undefined) return;
  if (!Array.isArray(given)) {
    for (const [name, value] of Object.entries(given)) res.setHeader(name, value!);
    return;
  }
  // Names and values in turn, or in pairs. The first of a name replaces what was set before.
  const list = (Array.isArray(given[0]) ? given.flat() : given) as string[];
  const values = new Map<string, string[]>();
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]!;
    const key = name.toLowerCase();
    const all = [values.get(key) ?? [], list[at + 1]!].flat();
    values.set(key, all);
    res.setHeader(name, all.length === 1 ? all[0]! : all);
  }
}

/** Turns a response with its headers set into a 304. */
export function makeBodyless(req: IncomingMessage, res: ServerResponse): void {
  if (phraseOf(req, res) !== '') res.statusMessage = '';
  res.statusCode = 304;
  for (const name of bodyHeaders) res.removeHeader(name);
}

/** Returns the reason phrase; HTTP/2 has none, and warns on access. */
function phraseOf(req: IncomingMessage, res: ServerResponse): string {
  return req.httpVersionMajor >= 2 ? '' : (res.statusMessage ?? '');
}

function texts(value: number | string | string[] | undefined): string | string[] {
  return Array.isArray(value) ? value.map(String) : String(value);
}

function isSame(value: string | readonly string[], before: OutgoingHttpHeaders[string]): boolean {
  if (before === undefined) return false;
  const other = texts(before);
  if (typeof value === 'string' || typeof other === 'string') return value === other;
  return value.length === other.length && value.every((each, at) => each === other[at]);
}

/** Counts data for a client that has left, or does not want it, as written. */
function notify(encoding: unknown, callback: unknown): void {
  const fn = typeof encoding === 'function' ? encoding : callback;
  if (typeof fn === 'function') nextTick(fn as () => void);
}
