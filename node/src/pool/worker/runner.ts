import { performance } from 'node:perf_hooks';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type Board, CONDEMNED, ENDED, placeMask, RUNNING, WAITING } from '../board.js';
import { type Batch, NO_FUNCTION, type Stop, THREW } from '../protocol.js';
import { Context, forget, stop } from './context.js';
import { textOf } from './error.js';
import { type Handler, load } from './functions.js';
import { Outbox } from './outbox.js';

/** A task this long, in ms, keeps results of short ones from leaving: after one each leaves at once for a while. */
const longMs = 2;
/** So many tasks long. */
const watched = 256;
/** Work goes on without a turn of the worker's loop for so long, in ms: its timers and streams have to live. */
const turnMs = 10;

/** A function: loaded, or being loaded, or why it cannot be. */
type Entry = {
  readonly filename: string;
  readonly name: string;
  handler: Handler | null;
  error: unknown;
  loading: Promise<void> | null;
};

/** Runs what the main thread sends, in order, as many at a time as are allowed. */
export class Runner {
  readonly #port: MessagePort;
  readonly #board: Board;
  readonly #concurrency: number;
  readonly #offsetMs: number;
  readonly #outbox: Outbox;
  readonly #functions = new Map<number, Entry>();
  /** The files of functions that were loaded before they had a number. */
  readonly #loaded = new Map<string, Entry>();
  readonly #batches: Batch[] = [];
  #batch: Batch | null = null;
  #index = 0;
  /** Tasks that have begun and not ended. */
  #running = 0;
  /** The function of the next task is being loaded. */
  #loading = false;
  #repliedMs = 0;
  /** Results leave at least so often, in ms; as the last batch says. */
  #replyMs = 0;
  /** Tasks for which short ones are not kept back. */
  #watchful = 0;
  #pumping = false;
  #turnScheduled = false;
  #replyScheduled = false;

  /** `offsetMs`: what the main thread's clock is ahead of this one's. */
  constructor(port: MessagePort, board: Board, concurrency: number, offsetMs: number) {
    this.#port = port;
    this.#board = board;
    this.#concurrency = concurrency;
    this.#offsetMs = offsetMs;
    this.#outbox = new Outbox(port);
    port.on('message', (message: Batch | Stop) => {
      this.#received(message);
      this.#pump();
    });
    port.on('messageerror', (error: unknown) => this.#unreadable(error));
  }

  /** Loads a function before there is a task for it. */
  preload(filename: string, name: string): Promise<void> {
    return this.#entry(filename, name).loading ?? Promise.resolve();
  }

  /** What has ended leaves now: the thread is about to end. */
  flush(): void {
    this.#outbox.send();
  }

  #received(message: Batch | Stop): void {
    if (typeof message === 'number') {
      stop(message);
      return;
    }
    const [, id, , , , definition] = message;
    const known = this.#functions.get(id);
    if (known === undefined) {
      if (definition) this.#functions.set(id, this.#entry(...definition));
    } else if (known.handler === null && known.loading === null) {
      this.#functions.set(id, this.#entry(known.filename, known.name));
    }
    this.#batches.push(message);
  }

  /** Nobody here can tell which tasks were in a message that cannot be read: the main thread can, and ends this one. */
  #unreadable(error: unknown): void {
    this.#running = Number.POSITIVE_INFINITY;
    this.#port.postMessage(`tasks cannot be read: ${textOf(error)}`);
  }

  #entry(filename: string, name: string): Entry {
    const key = `${name}\0${filename}`;
    const known = this.#loaded.get(key);
    if (known) return known;
    const entry: Entry = { filename, name, handler: null, error: null, loading: null };
    entry.loading = load(filename, name).then(
      (handler) => {
        entry.handler = handler;
        entry.loading = null;
      },
      (error) => {
        entry.error = error;
        entry.loading = null;
        // A file that can be loaded later is loaded then.
        this.#loaded.delete(key);
      },
    );
    this.#loaded.set(key, entry);
    return entry;
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      this.#work();
    } finally {
      this.#pumping = false;
    }
  }

  #work(): void {
    const startedMs = performance.now();
    let nowMs = startedMs;
    while (this.#running < this.#concurrency && !this.#loading) {
      if (this.#batch === null && !this.#nextBatch()) break;
      const [first, id, tasks, attempts, guarded] = this.#batch!;
      const entry = this.#functions.get(id)!;
      if (entry.loading !== null) {
        this.#loading = true;
        entry.loading.then(() => {
          this.#loading = false;
          this.#pump();
        });
        break;
      }
      const index = this.#index++;
      if (this.#index === tasks.length) this.#batch = null;
      const number = first + index;
      if (this.#outbox.size > 0 && (guarded || this.#watchful > 0)) this.#reply(nowMs);
      nowMs = this.#run(entry, number, tasks[index], attempts?.[index] ?? 0, nowMs);
      if (nowMs - this.#repliedMs > this.#replyMs) this.#reply(nowMs);
      if (nowMs - startedMs > turnMs) {
        this.#turn();
        break;
      }
    }
    if (this.#outbox.size === 0) return;
    // A task that waits for something may end within this turn, with more to follow.
    if (this.#running > 0 || this.#loading) this.#replySoon();
    else if (this.#batch === null && this.#batches.length === 0) this.#reply(nowMs);
  }

  /** Goes on to what has arrived. */
  #nextBatch(): boolean {
    while (this.#batches.length === 0 && this.#receive());
    this.#batch = this.#batches.shift() ?? null;
    this.#index = 0;
    if (this.#batch === null) return false;
    this.#replyMs = this.#batch[6];
    return true;
  }

  /** Takes in a message without waiting for its turn of the loop. */
  #receive(): boolean {
    try {
      const entry = receiveMessageOnPort(this.#port) as { message: Batch | Stop } | undefined;
      if (entry === undefined) return false;
      this.#received(entry.message);
      return true;
    } catch (error) {
      this.#unreadable(error);
      return false;
    }
  }

  /** Runs a task unless it was taken back; returns the time after it. */
  #run(entry: Entry, number: number, task: unknown, attempt: number, nowMs: number): number {
    const place = number & placeMask;
    const { words, startedMs } = this.#board;
    // The time first: whoever sees that it runs can tell since when.
    startedMs[place] = nowMs + this.#offsetMs;
    if (Atomics.compareExchange(words, place, WAITING, RUNNING) !== WAITING) {
      this.#outbox.add(number, undefined);
      return nowMs;
    }
    if (entry.handler === null) {
      this.#outbox.fail(number, NO_FUNCTION, entry.error);
      return this.#ended(number, nowMs);
    }
    try {
      const result = entry.handler(task, new Context(this.#board, number, attempt));
      if (isThenable(result)) {
        // A thenable may call back twice, at once, or throw: a promise does not.
        const promise = Promise.resolve(result);
        this.#running++;
        promise.then(
          (value) => {
            this.#outbox.add(number, value);
            this.#settled(number, nowMs);
          },
          (error) => {
            this.#outbox.fail(number, THREW, error);
            this.#settled(number, nowMs);
          },
        );
        return performance.now();
      }
      this.#outbox.add(number, result);
    } catch (error) {
      this.#outbox.fail(number, THREW, error);
    }
    return this.#ended(number, nowMs);
  }

  #settled(number: number, beganMs: number): void {
    const nowMs = this.#ended(number, beganMs);
    this.#running--;
    if (nowMs - this.#repliedMs > this.#replyMs) this.#reply(nowMs);
    this.#pump();
  }

  #ended(number: number, beganMs: number): number {
    const nowMs = performance.now();
    const place = number & placeMask;
    const tookMs = nowMs - beganMs;
    this.#board.tookMs[place] = tookMs;
    const word = Atomics.exchange(this.#board.words, place, ENDED);
    // This thread is being ended: what comes next would end with it, and can run elsewhere as long as it has not begun.
    if (word === CONDEMNED) this.#running = Number.POSITIVE_INFINITY;
    forget(number);
    if (tookMs > longMs) this.#watchful = watched;
    else if (this.#watchful > 0) this.#watchful--;
    return nowMs;
  }

  #reply(nowMs: number): void {
    this.#repliedMs = nowMs;
    const { stdout, stderr } = process;
    if (stdout.writableLength === 0 && stderr.writableLength === 0) this.#outbox.send();
    else void this.#replyAfter(stdout, stderr);
  }

  /** What tasks have printed goes through the main thread, which may end the process once it has the results. */
  async #replyAfter(...streams: NodeJS.WriteStream[]): Promise<void> {
    await Promise.all(streams.map((each) => new Promise((resolve) => each.write('', resolve))));
    this.#outbox.send();
  }

  #replySoon(): void {
    if (this.#replyScheduled) return;
    this.#replyScheduled = true;
    setImmediate(() => {
      this.#replyScheduled = false;
      this.#reply(performance.now());
    });
  }

  #turn(): void {
    if (this.#turnScheduled) return;
    this.#turnScheduled = true;
    setImmediate(() => {
      this.#turnScheduled = false;
      this.#pump();
    });
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as PromiseLike<unknown>).then === 'function'
  );
}
