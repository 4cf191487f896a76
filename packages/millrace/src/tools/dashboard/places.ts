/** The connections of the server: a limited number, and a silent one makes room for a new one. */
import type { Socket } from 'node:net';

export class Places {
  readonly #most: number;
  readonly #all = new Set<Socket>();
  /** Without a request under way, those that have been so for longest first. */
  readonly #silent = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  add(socket: Socket): void {
    this.#all.add(socket);
    this.#silent.add(socket);
    socket.on('close', () => {
      this.#all.delete(socket);
      this.#silent.delete(socket);
    });
    // If all others are in use, the newest itself gives way.
    if (this.#all.size > this.#most) this.#end(this.#silent.values().next().value!);
  }

  /** A request has come, or an upgrade. */
  heard(socket: Socket): void {
    this.#silent.delete(socket);
  }

  /** It has been answered, and the connection waits for another. */
  answered(socket: Socket): void {
    if (this.#all.has(socket)) this.#silent.add(socket);
  }

  closeAll(): void {
    for (const socket of this.#all) this.#end(socket);
  }

  /** Before it is closed: its place is free at once. */
  #end(socket: Socket): void {
    this.#all.delete(socket);
    this.#silent.delete(socket);
    socket.destroy();
  }
}
