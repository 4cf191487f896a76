/** Exchanges: requests on their way to a handler, in the three shapes of handlers, and replays of another run's response. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { MillraceError, show } from '@millrace/base/errors';
import { isThenable } from '@millrace/base/realm';
import { type Answer, conditionOf, header, isNotModified } from './answer.js';
import { makeBodyless, type Recording } from './recording.js';

/** Handler, its `this`, and its arguments. */
export type Call = readonly [handler: (...args: any[]) => unknown, self: unknown, args: unknown[]];

export abstract class Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;

  constructor(req: IncomingMessage, res: ServerResponse) {
    this.req = req;
    this.res = res;
  }

  /** True if no client waits for a response, or other code sends one. */
  get isTaken(): boolean {
    return isTaken(this.req, this.res);
  }

  /** Headers that are set before the handler runs. */
  headers(): OutgoingHttpHeaders {
    return { ...this.res.getHeaders() };
  }

  /** Reports whether the framework says that there is pressure. */
  get underPressure(): boolean {
    return false;
  }

  /** Runs the handler. Returns its result to the caller; handles its error as the framework would, and passes it to the recording. */
  run(recording?: Recording): unknown {
    let result: unknown;
    try {
      result = this.call(recording);
    } catch (error) {
      return this.#failed(error, recording);
    }
    if (isThenable(result)) {
      return Promise.resolve(result).then(
        (value) => {
          recording?.returned();
          return value;
        },
        (error) => this.#failed(error, recording),
      );
    }
    recording?.returned();
    return this.given(result);
  }

  #failed(error: unknown, recording: Recording | undefined): unknown {
    recording?.failed(error);
    return this.fail(error, true);
  }

  /** Calls the handler. */
  abstract call(recording: Recording | undefined): unknown;

  /** Value for the caller, if the handler returns it at once. */
  given(result: unknown): unknown {
    return result;
  }

  /** Ends the request with an error, in the way of the framework. `own`: from its own run of the handler. Never throws. */
  abstract fail(error: unknown, own: boolean): unknown;

  /** Called before the request is answered in place of the handler. */
  takeOver(): void {}
}

/** Detects the shape of a call by its arguments. Throws MILLRACE_E_INVALID_ARGUMENT if it is none of the three. */
export function exchangeOf(call: Call): Exchange {
  const [, , [first, second, third]] = call;
  if (isReply(second)) return new FastifyExchange(call, first as FastifyRequest, second);
  if (typeof (second as ServerResponse | undefined)?.setHeader !== 'function') {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `a handler of cached() was called with ${show(second)} as its second argument; it must be a response of node:http, Express or Connect, or a reply of Fastify`,
    );
  }
  if (typeof third === 'function') {
    return new ConnectExchange(call, third as Next);
  }
  return new PlainExchange(call);
}

/** Exchange of `(req, res)` of node:http. No framework answers for a handler that failed. */
class PlainExchange extends Exchange {
  readonly #call: Call;

  constructor(call: Call) {
    const [, , [req, res]] = call;
    super(req as IncomingMessage, res as ServerResponse);
    this.#call = call;
  }

  call(): unknown {
    const [handler, self, args] = this.#call;
    return handler.apply(self, args);
  }

  /** An error of its own run goes where it would without a cache: to the caller that awaits it, or to the process. */
  fail(error: unknown, own: boolean): unknown {
    answerError(this.res, error);
    return own ? Promise.reject(error) : undefined;
  }
}

type Next = (error?: unknown) => void;

/** Exchange of `(req, res, next)` of Express and Connect. */
class ConnectExchange extends Exchange {
  readonly #call: Call;
  readonly #next: Next;

  constructor(call: Call, next: Next) {
    const [, , [req, res]] = call;
    super(req as IncomingMessage, res as ServerResponse);
    this.#call = call;
    this.#next = next;
  }

  call(recording: Recording | undefined): unknown {
    const [handler, self, [req, res]] = this.#call;
    const next = (error?: unknown) => {
      // Without an error, a later handler's response is recorded instead. So it is after these two, which skip a part of it.
      if (error && error !== 'route' && error !== 'router') recording?.failed(error);
      this.#next(error);
    };
    return handler.call(self, req, res, next);
  }

  fail(error: unknown): unknown {
    try {
      this.#next(error);
      return undefined;
    } catch (thrown) {
      answerError(this.res, thrown);
      return Promise.reject(thrown);
    }
  }
}

interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly server: { isUnderPressure?: () => boolean };
}

interface FastifyReply {
  readonly raw: ServerResponse;
  hijack(): void;
  getHeaders(): OutgoingHttpHeaders;
}

function isReply(value: unknown): value is FastifyReply {
  return typeof (value as FastifyReply | undefined)?.hijack === 'function';
}

/** Exchange of `(request, reply)` of Fastify. Its response is recorded after serializers and hooks. */
class FastifyExchange extends Exchange {
  readonly #call: Call;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  /** True if Fastify no longer answers errors. */
  #isHijacked = false;

  constructor(call: Call, request: FastifyRequest, reply: FastifyReply) {
    super(request.raw, reply.raw);
    this.#call = call;
    this.#request = request;
    this.#reply = reply;
  }

  override headers(): OutgoingHttpHeaders {
    return { ...this.#reply.getHeaders() };
  }

  override get underPressure(): boolean {
    const { server } = this.#request;
    return typeof server.isUnderPressure === 'function' && server.isUnderPressure();
  }

  call(): unknown {
    const [handler, self, args] = this.#call;
    return handler.apply(self, args);
  }

  /** Promise of a handler that will call `reply.send()`: the reply itself. */
  override given(result: unknown): unknown {
    return result === undefined ? this.#reply : result;
  }

  fail(error: unknown): unknown {
    if (this.#isHijacked) answerError(this.res, error);
    return Promise.reject(error);
  }

  override takeOver(): void {
    // Headers set by hooks so far are stored here until a response is sent.
    for (const [name, value] of Object.entries(this.#reply.getHeaders())) {
      this.res.setHeader(name, value!);
    }
    this.#reply.hijack();
    this.#isHijacked = true;
  }
}

/** Sends the response to an error that nothing else reports. */
function answerError(res: ServerResponse, error: unknown): void {
  // The response may still be on its way.
  if (res.writableEnded) return;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const isTimeout = error instanceof MillraceError && error.code === 'MILLRACE_E_TIMEOUT';
  try {
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    res.statusCode = isTimeout ? 503 : 500;
    res.setHeader('Content-Type', 'text/plain; charset=utf-8');
    if (res.req.method === 'HEAD') res.end();
    else res.end(isTimeout ? 'Service Unavailable' : 'Internal Server Error');
  } catch {
    // Uses methods that other code may have replaced, perhaps the source of the error.
    res.destroy();
  }
}

// ---- replaying the response of another request

/** Age of a kept response. */
interface Age {
  readonly seconds: number;
  readonly isStale: boolean;
}

const staleWarning = '110 - "Response is Stale"';

/** Sends a response and returns true if it was a 304. Headers of other code stay, unless the response has them too. */
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
    // The headers may come from another copy before.
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
    // Some servers throw on a body, even an empty one, where none is allowed.
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

/** Reports whether the client has left, or other code has begun the response. */
export function isTaken(req: IncomingMessage, res: ServerResponse): boolean {
  return res.headersSent || res.writableEnded || res.destroyed || req.socket?.destroyed === true;
}
