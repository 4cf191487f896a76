/** One request on its way through the guard. Adapters say how it is run, answered, and known to be over. */
import type { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ClassIndex } from './classes.js';
import type { Route } from './routes.js';

/**
 * Why a request is turned away. `wait`: it would have to wait too long; `age`: it did; `full`: the queue is; `pressure`, `unhealthy`: a limit
 * that was set, or a health check.
 */
export type ShedReason = 'wait' | 'age' | 'full' | 'pressure' | 'unhealthy';

export const shedReasons: readonly ShedReason[] = ['wait', 'age', 'full', 'pressure', 'unhealthy'];

/** A refusal, as an adapter has to tell it. */
export interface Rejection {
  readonly reason: ShedReason;
  /** The wait that was predicted, or was, in ms. */
  readonly waitMs: number;
  /** For the header Retry-After. */
  readonly retryAfterSeconds: number;
}

/**
 * Where a ticket is. It goes forward only: what runs is never shed, and what is shed never runs, though its answer may be held
 * back for a while.
 */
type Stage = 'new' | 'queued' | 'running' | 'shed' | 'over';

/** Who is told that a ticket is over. */
export interface TicketOwner {
  closed(ticket: Ticket): void;
}

/** The place of one request at a guard, from its arrival to its end. */
export abstract class Ticket {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  cls: ClassIndex;
  readonly route: Route;

  // The rest is the guard's.
  stage: Stage = 'new';
  arrivedMs = 0;
  startedMs = 0;
  /** Wait that was predicted at its arrival, before correction. */
  predictedMs = 0;
  owner: TicketOwner | null = null;
  context: AsyncResource | null = null;
  /** It counts in the gate. */
  inGate = false;
  /** Links of the one list it is in: a lane while it waits, the gate's while it runs. */
  previous: Ticket | null = null;
  next: Ticket | null = null;

  constructor(req: IncomingMessage, res: ServerResponse, cls: ClassIndex, route: Route) {
    this.req = req;
    this.res = res;
    this.cls = cls;
    this.route = route;
  }

  /** Hands the request to the application. What it throws goes where it would have gone without the guard. */
  abstract run(): void;

  /** Answers in the application's place. Called once at most, and never after `run`. */
  abstract shed(rejection: Rejection): void;

  /** Whether `res` is a response, which an upgrade has not. */
  hasResponse(): boolean {
    return true;
  }

  /** A cache has answered, instead of `run` and `shed`. */
  answered(): void {}

  /** The client has left. */
  gone(): boolean {
    return this.res.destroyed || this.req.socket?.destroyed === true;
  }

  /** The application's answer is complete. */
  finished(): boolean {
    return this.res.writableEnded;
  }

  /** Sees to it that `closed` is called when the answer has been sent, or its connection is closed. */
  watch(): void {
    watchClose(this);
  }

  /** It is over, however it ended. May be called again. */
  closed(): void {
    this.owner?.closed(this);
  }
}

// ---- when the exchange of a ticket is over, for pipelined ones too

/** The ticket of a response. A property and one listener for all: a closure for each would be a third of what a ticket costs. */
const ticketOf = Symbol('millrace.ticket');

type Watched = ServerResponse & { [ticketOf]?: Ticket };

/** What waits for a connection to close: with one listener on it, however many requests are pipelined. */
const pipelined = new WeakMap<Socket, Set<Ticket>>();

function responseClosed(this: Watched): void {
  this[ticketOf]!.closed();
}

/** Has `closed` of a ticket called, once its answer has been sent or its connection is closed. */
function watchClose(ticket: Ticket): void {
  const res = ticket.res as Watched;
  if (res[ticketOf] === undefined) {
    res[ticketOf] = ticket;
    res.on('close', responseClosed);
  } else {
    // Another guard has a ticket for it.
    res.on('close', () => ticket.closed());
  }
  const { socket } = ticket.req;
  // An answer that waits behind another one of its connection has no socket yet. Node.js 20 and 22 do not close it if the
  // connection closes meanwhile.
  if (res.socket === null && socket && !socket.destroyed) watchSocket(socket, ticket);
}

function watchSocket(socket: Socket, ticket: Ticket): void {
  let tickets = pipelined.get(socket);
  if (tickets === undefined) {
    const all = new Set<Ticket>();
    pipelined.set(socket, all);
    socket.once('close', () => {
      for (const each of all) each.closed();
    });
    tickets = all;
  }
  tickets.add(ticket);
  ticket.res.once('close', () => tickets.delete(ticket));
}
