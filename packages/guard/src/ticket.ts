/** Request on its way through the guard. Adapters define its run, its refusal and its end. */
import type { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ClassIndex } from './classes.js';
import type { Cohort } from './cohorts.js';
import type { ShedReason } from './reasons.js';
import type { Replayed } from './replayed.js';
import type { Route } from './routes.js';

/** Refusal that an adapter has to send. */
export interface Rejection {
  readonly reason: ShedReason;
  /** Predicted or actual wait in ms. */
  readonly waitMs: number;
  /** Seconds for the header Retry-After. */
  readonly retryAfterSeconds: number;
}

/**
 * Stage of a ticket. It goes forward only: a running one is never shed, and a shed one never runs, though its response may be
 * delayed.
 */
type Stage = 'new' | 'queued' | 'running' | 'shed' | 'over';

/** Owner of a ticket, which is notified of its end. */
export interface TicketOwner {
  closed(ticket: Ticket): void;
}

/** Request at a guard, from its arrival to its end. */
export abstract class Ticket {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  cls: ClassIndex;
  readonly route: Route;

  // The fields below belong to the guard.
  stage: Stage = 'new';
  /** Cohort, set at the request's arrival. */
  cohort!: Cohort;
  arrivedMs = 0;
  startedMs = 0;
  /** Wait predicted at its arrival, in ms, before correction. */
  predictedMs = 0;
  owner: TicketOwner | null = null;
  context: AsyncResource | null = null;
  /** Copy in the model of the guard in shadow; null for a guard that acts. */
  replayed: Replayed | null = null;
  /** True while it counts in the gate. */
  inGate = false;
  /** Links of its list: a lane's while it waits, the gate's while it runs. */
  previous: Ticket | null = null;
  next: Ticket | null = null;

  constructor(req: IncomingMessage, res: ServerResponse, cls: ClassIndex, route: Route) {
    this.req = req;
    this.res = res;
    this.cls = cls;
    this.route = route;
  }

  /** Marks it as waiting or running: its route and cohort are not forgotten. */
  hold(): void {
    this.route.open++;
    this.cohort.open++;
  }

  /** Reverts `hold`. */
  release(): void {
    this.route.open--;
    this.cohort.open--;
  }

  /** Passes the request to the application. An error is thrown as without the guard. */
  abstract run(): void;

  /** Answers instead of the application. Called once at most, and never after `run`. */
  abstract shed(rejection: Rejection): void;

  /** Reports whether `res` is a response; an upgrade has none. */
  hasResponse(): boolean {
    return true;
  }

  /** Records that a cache has answered, instead of `run` and `shed`. */
  answered(): void {}

  /** Reports whether the client has left. */
  gone(): boolean {
    return this.res.destroyed || this.req.socket?.destroyed === true;
  }

  /** Reports whether the application's response is complete. */
  finished(): boolean {
    return this.res.writableEnded;
  }

  /** Has `closed` called when the response has been sent, or its connection is closed. */
  watch(): void {
    watchClose(this);
  }

  /** Ends the request's place at the guard. May be called again. */
  closed(): void {
    this.owner?.closed(this);
  }
}

// ---- detects the end of a ticket's exchange, for pipelined ones too

/** Key of a response's ticket. A property and one listener for all: a closure for each would be a third of a ticket's cost. */
const ticketOf = Symbol('millrace.ticket');

type Watched = ServerResponse & { [ticketOf]?: Ticket };

/** Tickets that wait for a connection to close: one listener per connection, however many requests are pipelined. */
const pipelined = new WeakMap<Socket, Set<Ticket>>();

function responseClosed(this: Watched): void {
  this[ticketOf]!.closed();
}

/** Calls `closed` of a ticket once its response has been sent or its connection is closed. */
function watchClose(ticket: Ticket): void {
  const res = ticket.res as Watched;
  if (res[ticketOf] === undefined) {
    res[ticketOf] = ticket;
    res.on('close', responseClosed);
  } else {
    // Another guard has a ticket for this response.
    res.on('close', () => ticket.closed());
  }
  const { socket } = ticket.req;
  // A response that waits behind another one of its connection has no socket yet. Node.js 20 and 22 do not close it if the
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
