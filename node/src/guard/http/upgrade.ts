/** A connection that asks for another protocol. Its handshake takes its turn as any request; what follows is not the guard's. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Rejection, Ticket } from '../ticket.js';
import type { Intake } from './server-exchange.js';
import { unavailableText } from './unavailable.js';

/** node:http has taken its listeners off: without one, a client that leaves while it waits would end the process. */
function ignoreError(): void {}

export class Upgrade extends Ticket {
  readonly intake: Intake;
  readonly head: Buffer;

  constructor(intake: Intake, req: IncomingMessage, socket: Duplex, head: Buffer) {
    const route = intake.guard.routeOf(req);
    // The guard asks a response only for what a socket says as well.
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

  /** The handshake is; a connection that lives for hours is no request under way. */
  override finished(): boolean {
    return true;
  }
}
