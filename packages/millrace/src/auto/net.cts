/** The writes of a turn leave together, on each TCP connection that begins from now on, whichever end began it. */
import type { Socket } from 'node:net';
import { Patch } from '@millrace/base/patch';
import { builtin } from '@millrace/base/realm';
import type { CoalesceOptions, Coalescer } from '../net/index.js' with {
  'resolution-mode': 'import',
};
import type { Part } from './feature.cjs';
import { checkModules, sentence } from './functions.cjs';
import { coalescedBy, isPlain, isTaken, WeakList } from './sockets.cjs';

const { subscribe, unsubscribe } = builtin('node:diagnostics_channel');
const { prototype: sockets } = builtin('node:net').Socket;

const accepted = 'net.server.socket';

export class NetPart implements Part {
  state: Part['state'] = 'waiting';
  why: string | null = null;
  readonly #patch: Patch;
  readonly #coalescers = new WeakList<Coalescer>();
  #coalesce: ((socket: Socket, options: CoalesceOptions) => Coalescer | null) | null = null;
  /** Sockets that connected before `millrace/net` was loaded. */
  #early: Socket[] = [];
  #isOn = false;

  constructor(private readonly options: CoalesceOptions) {
    const part = this;
    // There is a channel for clients as well, but it says nothing of `new Socket().connect()`.
    this.#patch = new Patch(
      sockets,
      'connect',
      (original) =>
        function connect(this: Socket, ...args: unknown[]) {
          const socket = original.apply(this, args);
          part.#add(this);
          return socket;
        },
    );
  }

  on(): Promise<void> {
    this.#isOn = true;
    this.#patch.apply();
    subscribe(accepted, this.#onAccepted);
    return this.#load();
  }

  off(): void {
    this.#isOn = false;
    this.#patch.undo();
    unsubscribe(accepted, this.#onAccepted);
    for (const each of this.#coalescers.take()) each.off();
    this.#early = [];
    this.state = 'waiting';
  }

  readonly #onAccepted = (message: unknown) => this.#add((message as { socket: Socket }).socket);

  #add(socket: Socket): void {
    if (!this.#isOn || socket.destroyed || !isPlain(socket) || isTaken(socket)) return;
    if (this.#coalesce === null) {
      this.#early.push(socket);
      return;
    }
    const coalescer = this.#coalesce(socket, this.options);
    // The application does this by itself: it is not ours to take back.
    if (coalescer === null) return;
    this.#coalescers.add(coalescer);
    coalescedBy(socket, coalescer);
    this.state = 'active';
  }

  async #load(): Promise<void> {
    try {
      checkModules();
      this.#coalesce = (await import('../net/coalesce.js')).coalesceAutomatically;
      for (const socket of this.#early.splice(0)) this.#add(socket);
    } catch (error) {
      this.why = sentence(error);
      this.off();
    }
  }
}
