/** A guard for each server of node:http, node:https and node:http2 that listens, unless the application gives it one. */
import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';
import { atTurnEnd } from '@millrace/base/turn';
import type { Guard } from '@millrace/guard' with { 'resolution-mode': 'import' };
import type { GuardSettings, Part } from './feature.cjs';
import { checkModules, sentence } from './functions.cjs';
import { WeakList, watchServers } from './sockets.cjs';

export class GuardPart implements Part {
  state: Part['state'] = 'waiting';
  why: string | null = null;
  readonly #guards = new WeakList<Guard>();
  #unwatch: (() => void) | null = null;

  constructor(private readonly options: GuardSettings) {}

  async on(): Promise<void> {
    // Later in the turn: the application may be about to guard this server by itself.
    this.#unwatch = watchServers((server) => atTurnEnd(() => this.#guard(server)));
    try {
      checkModules();
      await import('@millrace/guard');
    } catch (error) {
      this.why = sentence(error);
      this.off();
    }
  }

  off(): void {
    this.#unwatch?.();
    this.#unwatch = null;
    for (const guard of this.#guards.take()) guard.close();
    this.state = 'waiting';
  }

  async #guard(server: Server): Promise<void> {
    if (!isHttp(server)) return;
    try {
      const { guard } = await import('@millrace/guard');
      if (this.#unwatch === null || !server.listening) return;
      this.#guards.add(guard(server, this.options));
      this.state = 'active';
    } catch {
      // It has a guard of the application.
    }
  }
}

function isHttp(server: Server): server is HttpServer {
  return typeof (server as Partial<HttpServer>).setTimeout === 'function';
}
