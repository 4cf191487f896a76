import { type Board, CONDEMNED, LISTENING, placeMask, RUNNING, STOPPING } from '../board.js';

/** What a function gets beside its task. */
export interface TaskContext {
  /**
   * Aborted when the caller's signal is, or the task's `timeout` is over. A function that has asked for it, or for `aborted`,
   * gets `abortGrace` ms to end; the worker of one that has not is ended, as nothing else stops it.
   */
  readonly signal: AbortSignal;
  /** The same as a flag in shared memory: it changes in the middle of a synchronous loop, too. */
  readonly aborted: boolean;
  /** 0, or how often the task was begun before on a worker that ended. */
  readonly attempt: number;
}

/** Tasks whose functions have a signal, by number. */
const listening = new Map<number, AbortController>();

export class Context implements TaskContext {
  readonly #board: Board;
  readonly #number: number;
  readonly attempt: number;

  constructor(board: Board, number: number, attempt: number) {
    this.#board = board;
    this.#number = number;
    this.attempt = attempt;
  }

  get aborted(): boolean {
    return isToStop(this.#listen());
  }

  get signal(): AbortSignal {
    let controller = listening.get(this.#number);
    if (controller === undefined) {
      controller = new AbortController();
      const word = this.#listen();
      if (isToStop(word)) controller.abort();
      // Of a task that has ended nobody will ask for anything.
      if (word === LISTENING) listening.set(this.#number, controller);
    }
    return controller.signal;
  }

  #listen(): number {
    const place = this.#number & placeMask;
    const word = Atomics.compareExchange(this.#board.words, place, RUNNING, LISTENING);
    return word === RUNNING ? LISTENING : word;
  }
}

const isToStop = (word: number): boolean => word === STOPPING || word === CONDEMNED;

/** The main thread says that a task is to stop. */
export function stop(number: number): void {
  listening.get(number)?.abort();
}

export function forget(number: number): void {
  if (listening.size > 0) listening.delete(number);
}
