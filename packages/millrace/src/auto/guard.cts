/**
 * A guard for each server of node:http, node:https and node:http2 that listens, unless the application gives it one. In shadow
 * (`observe`) they refuse nothing, and at the end of the process one line on stderr says what they would have refused and saved.
 */
import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';
import { atTurnEnd } from '@millrace/base/turn';
import type { Guard } from '@millrace/guard' with { 'resolution-mode': 'import' };
import type { ShadowTotals } from '@millrace/guard/requests' with { 'resolution-mode': 'import' };
import type { GuardSettings, Part } from './feature.cjs';
import { checkModules, sentence } from './functions.cjs';
import { WeakList, watchServers } from './sockets.cjs';

export class GuardPart implements Part {
  state: Part['state'] = 'waiting';
  why: string | null = null;
  readonly #guards = new WeakList<Guard>();
  #unwatch: (() => void) | null = null;
  #unwatchEnd: (() => void) | null = null;

  constructor(private readonly options: GuardSettings) {}

  async on(): Promise<void> {
    // Later in the turn: the application may be about to guard this server by itself.
    this.#unwatch = watchServers((server) => atTurnEnd(() => this.#guard(server)));
    try {
      checkModules();
      await import('@millrace/guard');
      if (this.options.observe) await this.#reportAtEnd();
    } catch (error) {
      this.why = sentence(error);
      this.off();
    }
  }

  off(): void {
    this.#unwatch?.();
    this.#unwatch = null;
    this.#unwatchEnd?.();
    this.#unwatchEnd = null;
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

  async #reportAtEnd(): Promise<void> {
    const [{ shadowTotals }, { watchEnds }, { say }] = await Promise.all([
      import('@millrace/guard/requests'),
      import('../tools/observe/endings.js'),
      import('../tools/observe/output.js'),
    ]);
    if (this.#unwatch === null) return;
    this.#unwatchEnd = watchEnds(() => {
      // A program without a server has nothing to say.
      if (this.state === 'waiting') return;
      for (const guard of this.#guards.take()) guard.close();
      say(`${shadowLine(shadowTotals(), process.pid)}\n`);
    });
  }
}

/** The line at the end. */
export function shadowLine(totals: ShadowTotals, pid: number): string {
  const { requests, refused, late, saved, lost } = totals;
  const count = (n: number, what: string) =>
    `${n === 0 ? 'no' : n.toLocaleString('en-US')} ${n === 1 ? what : `${what}s`}`;
  const net = Math.max(0, saved - lost);
  return [
    `millrace: guard in shadow, process ${pid}: ${count(requests, 'request')}, ${count(late, 'response')} late.`,
    `A guard would have refused ${count(refused, 'request')} and saved ${count(net, 'response')}`,
    `(${saved.toLocaleString('en-US')} late ones in time, ${lost.toLocaleString('en-US')} in time refused).`,
  ].join(' ');
}

function isHttp(server: Server): server is HttpServer {
  return typeof (server as Partial<HttpServer>).setTimeout === 'function';
}
