/** What is observed of sockets: writes, frames, requests. Begins with the first connection. */
import type { Socket } from 'node:net';
import { FramesObserver, type FramesReport } from './frames.js';
import type { Observer } from './observer.js';
import { RequestsObserver, type RequestsReport } from './requests.js';
import { watchSockets } from './sockets.js';
import { WritesObserver, type WritesReport } from './writes.js';

interface NetworkReport {
  writes: WritesReport;
  frames: FramesReport;
  requests: RequestsReport;
}

export class NetworkObserver implements Observer<NetworkReport> {
  readonly #frames = new FramesObserver();
  readonly #writes = new WritesObserver(this.#frames);
  readonly #requests: RequestsObserver;
  #isInUse = false;
  #unwatch: (() => void) | null = null;

  constructor(...given: ConstructorParameters<typeof RequestsObserver>) {
    this.#requests = new RequestsObserver(...given);
  }

  start(): void {
    this.#unwatch = watchSockets(this.#onSocket);
  }

  stop(): void {
    this.#unwatch?.();
    if (!this.#isInUse) return;
    for (const each of [this.#frames, this.#writes, this.#requests]) each.stop();
  }

  /** Writes, frames, requests and WebSockets that were seen. */
  get count(): number {
    return this.#writes.count + this.#frames.count + this.#requests.count;
  }

  read(): NetworkReport {
    return {
      writes: this.#writes.read(),
      frames: this.#frames.read(),
      requests: this.#requests.read(),
    };
  }

  readonly #onSocket = (socket: Socket): void => {
    if (!this.#isInUse) {
      this.#isInUse = true;
      for (const each of [this.#frames, this.#writes, this.#requests]) each.start();
    }
    this.#requests.noteSocket(socket);
  };
}
