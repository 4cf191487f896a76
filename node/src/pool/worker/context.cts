import { type Board, CONDEMNED, LISTENING, placeMask, RUNNING, STOPPING } from '../protocol.cjs';

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
  /** Of a durable task its id: the same each time that it runs. Null for others. */
  readonly id: string | null;
  /** How often a durable task was given to a worker, this time included: above 1 it may have run before. Of others `attempt` + 1. */
  readonly delivery: number;
}

/** What a durable task comes with: its id, how often it was delivered, and its argument. */
export type Durable = readonly [id: string, delivery: number, task: unknown];

/** Tasks whose functions have a signal, by number. */
const listening = new Map<number, AbortController>();

export class Context implements TaskContext {
  readonly #board: Board;
  readonly #number: number;
  readonly attempt: number;
  #controller: AbortController | null = null;
  /** How the task was when it ended: from then on its place is another's. */
  #lastWord: number | null = null;
  durable: Durable | null = null;

  constructor(board: Board, number: number, attempt: number) {
    this.#board = board;
    this.#number = number;
    this.attempt = attempt;
  }

  get id(): string | null {
    return this.durable === null ? null : this.durable[0];
  }

  get delivery(): number {
    return this.durable === null ? this.attempt + 1 : this.durable[1];
  }

  get aborted(): boolean {
    return isToStop(this.#listen());
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort();
      else if (this.#lastWord === null) listening.set(this.#number, this.#controller);
    }
    return this.#controller.signal;
  }

  /** The task has ended. A function may keep the context all the same: it stays as it is. */
  end(word: number): void {
    this.#lastWord = word;
    if (this.#controller !== null) listening.delete(this.#number);
  }

  #listen(): number {
    if (this.#lastWord !== null) return this.#lastWord;
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
