/** Sees the events of an http server on their way to its listeners. */
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { patchMethod } from '@millrace/base/patch';

/** What is reported of a server. */
export interface HandlerWatcher {
  /** A request is about to be handed to the listeners. */
  begin(req: IncomingMessage): void;
  /** They have returned, or thrown. */
  end(): void;
  upgrade(req: IncomingMessage): void;
}

/** Replaces `emit` on the server itself. Returns a function that puts it back. */
export function watchHandlers(server: HttpServer, watcher: HandlerWatcher): () => void {
  let isOn = true;
  const patch = patchMethod(server, 'emit', (original) => {
    return function emit(this: HttpServer, event: string, ...args: unknown[]): boolean {
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
  });
  return () => {
    isOn = false;
    patch.undo();
  };
}
