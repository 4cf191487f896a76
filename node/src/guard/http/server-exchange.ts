import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Guard } from '../guard.js';
import { Exchange } from './exchange.js';

/** What a guarded server is for its tickets. */
export interface Intake {
  readonly server: Server;
  readonly guard: Guard;
  /** Emits as the server did before it was guarded. */
  emitUnguarded(event: string, ...args: unknown[]): boolean;
}

/** An exchange that is handed over by emitting the event that brought it. */
export class ServerExchange extends Exchange {
  readonly intake: Intake;
  readonly event: string;

  constructor(intake: Intake, event: string, req: IncomingMessage, res: ServerResponse) {
    super(intake.guard, req, res);
    this.intake = intake;
    this.event = event;
  }

  run(): void {
    this.intake.emitUnguarded(this.event, this.req, this.res);
  }
}
