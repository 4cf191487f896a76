/** Guards a server of node:http, node:https or node:http2: each request passes the guard before the server's listeners see it. */
import type { Server as HttpServer, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Http2SecureServer, Http2Server } from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { MillraceError, show } from '@millrace/base/errors';
import { type Method, patchMethod } from '@millrace/base/patch';
import { chosenGuard, type Guard } from '../guard.js';
import type { GuardOptions } from '../options.js';
import { type Rejection, Ticket } from '../ticket.js';
import { Exchange, isNew, unavailableText } from './exchange.js';

/** Servers that can be guarded. */
export type GuardableServer = HttpServer | HttpsServer | Http2Server | Http2SecureServer;

const guards = new WeakMap<object, Guard>();

/** Applications of Express and Connect are functions. */
const HINT = '; of an application, give what its listen() returns, or createServer(app)';

/**
 * Puts a guard in front of a server. Listeners may have been added before or may be added later; 'request', 'checkContinue',
 * 'checkExpectation' and 'upgrade' reach them when the request is admitted, or never. Refused requests get a 503.
 *
 * @param server of `node:http` or `node:https`; of `node:http2`, requests of its compatibility API
 * @param options of a guard of its own, or a guard that several servers share
 * @returns the guard; its `close()` restores the server
 * @throws MILLRACE_E_INVALID_ARGUMENT if `server` is not such a server, or has another guard; MILLRACE_E_CLOSED if the guard that is
 *   given is closed; MILLRACE_E_INVALID_OPTION
 */
export function guard(server: GuardableServer, options: GuardOptions | Guard = {}): Guard {
  if (!isServer(server)) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `guard() takes a server of node:http, node:https or node:http2, not ${show(server)}${typeof server === 'function' ? HINT : ''}`,
    );
  }
  const present = guards.get(server);
  if (present !== undefined) {
    if (present === options) return present;
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      'this server has a guard already; close() that one before you give it another',
    );
  }
  const chosen = chosenGuard(options);
  const intake = new ServerIntake(server as HttpServer, chosen);
  guards.set(server, chosen);
  chosen.onClose(() => {
    guards.delete(server);
    intake.close();
  });
  return chosen;
}

function isServer(value: unknown): boolean {
  const { emit, on, setTimeout } = (value ?? {}) as Partial<HttpServer>;
  // The last one tells it from a server of node:net, and from an application of Express or Connect.
  return [emit, on, setTimeout].every((method) => typeof method === 'function');
}

class ServerIntake {
  readonly server: HttpServer;
  readonly guard: Guard;
  /** `emit` of the server without a guard. */
  #emit!: Method;
  readonly #undo: (() => void)[];
  #isClosed = false;

  constructor(server: HttpServer, guard: Guard) {
    this.server = server;
    this.guard = guard;
    const patch = patchMethod(server, 'emit', (original) => {
      this.#emit = original;
      // Rest arguments cost nothing here once compiled: they are only passed on.
      return (event: string, ...args: unknown[]): boolean =>
        this.#takes(event, args[0], args[1], args[2]) || this.emitUnguarded(event, ...args);
    });
    this.#undo = [takeContinue(server), () => patch.undo()];
  }

  /** Emits as the server did before it was guarded. */
  emitUnguarded(event: string, ...args: unknown[]): boolean {
    return this.#emit.call(this.server, event, ...args);
  }

  /** Restores `emit`. If other code has replaced it meanwhile, that still calls the guard's, which then only passes events on. */
  close(): void {
    this.#isClosed = true;
    for (const undo of this.#undo) undo();
  }

  /** Reports whether the event is one for the guard, and has been given to it. */
  #takes(event: string, first: unknown, second: unknown, third: unknown): boolean {
    if (this.#isClosed) return false;
    switch (event) {
      case 'request':
      case 'checkContinue':
      case 'checkExpectation': {
        const req = first as IncomingMessage;
        if (!isNew(req, this.guard)) return false;
        const Kind = event === 'checkContinue' ? ContinueExchange : ServerExchange;
        this.guard.admit(new Kind(this, event, req, second as ServerResponse));
        return true;
      }
      case 'upgrade': {
        const req = first as IncomingMessage;
        if (!isNew(req, this.guard)) return false;
        this.guard.admit(new Upgrade(this, req, second as Duplex, third as Buffer));
        return true;
      }
      case 'connection':
        this.guard.noticeConnection();
        return false;
      default:
        return false;
    }
  }
}

/** Exchange that runs by emitting its original event. */
class ServerExchange extends Exchange {
  readonly intake: ServerIntake;
  readonly event: string;

  constructor(intake: ServerIntake, event: string, req: IncomingMessage, res: ServerResponse) {
    super(intake.guard, req, res);
    this.intake = intake;
    this.event = event;
  }

  run(): void {
    this.intake.emitUnguarded(this.event, this.req, this.res);
  }
}

// ---- `Expect: 100-continue`. node:http asks for the body before it emits 'request', unless somebody listens to 'checkContinue': so the
// guard does, and a request that is turned away is never asked for its body.

/** Listener that does nothing: the guard takes the event before it reaches listeners. */
function isHere(): void {}

function takeContinue(server: Server): () => void {
  server.on('checkContinue', isHere);
  return () => server.off('checkContinue', isHere);
}

class ContinueExchange extends ServerExchange {
  override run(): void {
    const { server } = this.intake;
    const all = server.listenerCount('checkContinue');
    if (all > server.listenerCount('checkContinue', isHere)) {
      super.run();
      return;
    }
    // As node:http does where nobody listens. Whoever has replaced `emit` sees a 'request', as without a guard.
    this.res.writeContinue();
    server.emit('request', this.req, this.res);
  }
}

// ---- a connection that asks for another protocol: its handshake takes its turn as any request; what follows is not the guard's

/** node:http has taken its listeners off: without one, a client that leaves while it waits would end the process. */
function ignoreError(): void {}

class Upgrade extends Ticket {
  readonly intake: ServerIntake;
  readonly head: Buffer;

  constructor(intake: ServerIntake, req: IncomingMessage, socket: Duplex, head: Buffer) {
    const route = intake.guard.routeOf(req);
    // The guard uses only properties of a response that a socket has as well.
    const res = socket as unknown as ServerResponse;
    super(req, res, intake.guard.classOf(req, route), route);
    this.intake = intake;
    this.head = head;
    socket.on('error', ignoreError);
  }

  get #socket(): Duplex {
    return this.res as unknown as Duplex;
  }

  run(): void {
    const socket = this.#socket;
    socket.off('error', ignoreError);
    this.intake.emitUnguarded('upgrade', this.req, socket, this.head);
  }

  shed(rejection: Rejection): void {
    const socket = this.#socket;
    const { message } = this.intake.guard.options;
    socket.end(unavailableText(rejection.retryAfterSeconds, message), () => socket.destroy());
  }

  override watch(): void {
    this.#socket.once('close', () => this.closed());
  }

  override hasResponse(): boolean {
    return false;
  }

  /** Ends with the handshake; a connection that lives for hours is no request in progress. */
  override finished(): boolean {
    return true;
  }
}
