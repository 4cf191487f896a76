/**
 * Fan-out for each copy of ws in the process. A WebSocket of ws puts itself on its socket under a symbol of its own and then
 * calls `setNoDelay()`: that is where its class is found. Frames that come encoded, the same for several sockets, are broadcasts of
 * socket.io: the class of its clients is found among the modules that have been loaded.
 */
import type { Socket } from 'node:net';
import { Patch } from '@millrace/base/patch';
import { builtin } from '@millrace/base/realm';
import type { Installation, InstallOptions } from '../ws/index.js' with {
  'resolution-mode': 'import',
};
import type { Part } from './feature.cjs';
import { checkModules, sentence } from './functions.cjs';
import { isOwn, take } from './sockets.cjs';

const { prototype: sockets } = builtin('node:net').Socket;

type Install = typeof import('../ws/transparent.js', { with: { 'resolution-mode': 'import' }});
type Class = new (...args: never[]) => never;

/** The file of socket.io 4 with the class of its clients. */
const clientFile = /[\\/]socket\.io[\\/]dist[\\/]client\.js$/;

/** Internals of ws. */
interface Internals {
  readonly _isServer?: boolean;
  /** Negotiated before it gets its socket. */
  readonly _extensions?: object;
}

export class WsPart implements Part {
  #why: string | null = null;
  readonly #patch: Patch;
  readonly #classes = new Set<Class>();
  /** Null for a class that the application has installed by itself; only the application may take that back. */
  readonly #installations = new Map<Class, Installation | null>();
  #install: Install | null = null;
  /** Ends it, by class of the clients of socket.io. */
  readonly #queues = new Map<object, () => void>();
  #isOn = false;

  constructor(private readonly options: InstallOptions) {
    const part = this;
    this.#patch = new Patch(
      sockets,
      'setNoDelay',
      (original) =>
        function setNoDelay(this: Socket, noDelay?: boolean) {
          part.#look(this);
          return original.call(this, noDelay);
        },
    );
  }

  get state() {
    return [...this.#installations.values()].some((each) => this.#acts(each))
      ? 'active'
      : 'waiting';
  }

  get why(): string | null {
    if (this.#why !== null) return this.#why;
    return [...this.#installations.values()].every((each) => this.#acts(each))
      ? null
      : 'the application has called install() by itself';
  }

  /** The application may have called `install()` for its class later. */
  #acts(installation: Installation | null): boolean {
    return installation !== null && this.#install!.isInForce(installation);
  }

  on(): undefined {
    this.#isOn = true;
    this.#patch.apply();
    for (const each of this.#classes) this.#add(each);
  }

  off(): void {
    this.#isOn = false;
    this.#patch.undo();
    for (const installation of this.#installations.values()) installation?.uninstall();
    this.#installations.clear();
    for (const end of this.#queues.values()) end();
    this.#queues.clear();
  }

  #look(socket: Socket): void {
    if (!this.#isOn || isOwn(socket)) return;
    for (const symbol of Object.getOwnPropertySymbols(socket)) {
      if (symbol.description !== 'websocket') continue;
      const ws = (socket as unknown as Record<symbol, Internals | null>)[symbol];
      // The frames of clients are masked, each with a mask of its own.
      if (ws?._isServer !== true) continue;
      // What is compressed is not gathered, so that `net` may do it.
      if (Object.keys(ws._extensions ?? {}).length === 0) take(socket);
      const Found = ws.constructor as Class;
      if (this.#classes.has(Found)) continue;
      this.#classes.add(Found);
      this.#add(Found);
    }
  }

  async #add(Found: Class): Promise<void> {
    try {
      checkModules();
      this.#install = await import('../ws/transparent.js');
      if (!this.#isOn || this.#installations.has(Found)) return;
      const onShared = () => this.#queueTogether();
      const installation = this.#install.installAutomatically(Found, this.options, onShared);
      this.#installations.set(Found, installation);
    } catch (error) {
      this.#why = sentence(error);
    }
  }

  async #queueTogether(): Promise<void> {
    try {
      checkModules();
      const { queueTogether } = await import('../ws/socket-io/queued.js');
      if (!this.#isOn) return;
      for (const [path, module] of Object.entries(require.cache ?? {})) {
        if (!clientFile.test(path)) continue;
        const { Client } = module?.exports ?? {};
        if (typeof Client?.prototype?.writeToEngine !== 'function') continue;
        if (!this.#queues.has(Client)) this.#queues.set(Client, queueTogether(Client));
      }
    } catch (error) {
      this.#why = sentence(error);
    }
  }
}
