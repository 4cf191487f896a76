/**
 * Adaptive reads for sockets that receive in bulk. What is read from a socket passes through `push()`; two chunks of the
 * size that Node.js reads at most are a sign of more.
 */
import type { Socket } from 'node:net';
import { Patch } from '@millrace/base/patch';
import { builtin } from '@millrace/base/realm';
import type { Enlarged, EnlargeOptions } from '../net/index.js' with {
  'resolution-mode': 'import',
};
import type { Part } from './feature.cjs';
import { checkModules, sentence } from './functions.cjs';
import { isPlain, WeakList } from './sockets.cjs';

const { prototype: sockets } = builtin('node:net').Socket;

/** Bytes of a full read. */
const fullRead = 64 * 1024;

const load = () => Promise.all([import('../net/index.js'), import('../native/load.js')]);

export class ReadsPart implements Part {
  state: Part['state'] = 'waiting';
  why: string | null = null;
  readonly #patch: Patch;
  /** Sockets with one full read, and those that are done with. */
  #seen = new WeakMap<Socket, 'once' | 'done'>();
  readonly #enlarged = new WeakList<Enlarged>();
  #isOn = false;

  constructor(private readonly options: EnlargeOptions) {
    const part = this;
    this.#patch = new Patch(
      sockets,
      'push',
      (original) =>
        function push(this: Socket, chunk: Uint8Array | null, encoding?: BufferEncoding) {
          if (chunk !== null && chunk.length === fullRead) part.#notice(this);
          return original.call(this, chunk, encoding);
        },
    );
  }

  on(): undefined {
    if (this.why !== null) return;
    this.#isOn = true;
    this.#patch.apply();
  }

  off(): void {
    this.#isOn = false;
    this.#patch.undo();
    for (const each of this.#enlarged.take()) each.off();
    this.#seen = new WeakMap();
    this.state = 'waiting';
  }

  #notice(socket: Socket): void {
    if (!this.#isOn) return;
    const seen = this.#seen.get(socket);
    if (seen === 'done') return;
    this.#seen.set(socket, seen === undefined ? 'once' : 'done');
    if (seen === 'once' && isPlain(socket)) this.#enlarge(socket);
  }

  async #enlarge(socket: Socket): Promise<void> {
    try {
      checkModules();
      const [{ enlarge }, { nativeError }] = await load();
      if (nativeError !== null) return this.#giveUp(nativeError);
      if (!this.#isOn || socket.destroyed) return;
      this.#enlarged.add(enlarge(socket, this.options));
      this.state = 'active';
    } catch (error) {
      this.#giveUp(sentence(error));
    }
  }

  #giveUp(why: string): void {
    this.why = why;
    this.off();
  }
}
