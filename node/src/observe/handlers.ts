/** Sees the events of an http server on their way to its listeners. */
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { replaceMethod } from '../net/patch.js';

type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/** What is reported of a server. */
export interface HandlerWatcher {
  /** A request is about to be handed to the listeners. */
  begin(req: IncomingMessage): void;
  /** They have returned, or thrown. */
  end(): void;
  upgrade(req: IncomingMessage): void;
}

/** Replaces `emit` on the server itself. Returns a function that puts it back; if somebody has replaced it again since, ours passes calls on. */
export function watchHandlers(server: HttpServer, watcher: HandlerWatcher): () => void {
  /** Null if it was the prototype's, which somebody may replace at any time. */
  const before = Object.hasOwn(server, 'emit') ? (server.emit as Emit) : null;
  const prototype = Object.getPrototypeOf(server) as { emit: Emit };
  let isOn = true;
  const emit = function emit(this: HttpServer, event: string, ...args: unknown[]): boolean {
    const original = before ?? prototype.emit;
    if (!isOn || event !== 'request') {
      if (isOn && event === 'upgrade') watcher.upgrade(args[0] as IncomingMessage);
      return original.call(this, event, ...args);
    }
    watcher.begin(args[0] as IncomingMessage);
    try {
      return original.call(this, event, ...args);
    } finally {
      watcher.end();
    }
  };
  const { undo } = replaceMethod(server, 'emit', emit);
  return () => {
    isOn = false;
    undo();
  };
}
