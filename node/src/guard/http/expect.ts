/**
 * `Expect: 100-continue`. node:http asks for the body before it emits 'request', unless somebody listens to 'checkContinue': so the guard
 * does, and a request that is turned away is never asked for its body.
 */
import type { Server } from 'node:http';
import { ServerExchange } from './server-exchange.js';

/** Being there is all it does: the guard takes the event before it comes to listeners. */
function isHere(): void {}

export function takeContinue(server: Server): () => void {
  server.on('checkContinue', isHere);
  return () => server.off('checkContinue', isHere);
}

export class ContinueExchange extends ServerExchange {
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
