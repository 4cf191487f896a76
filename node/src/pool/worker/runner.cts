import type { MessagePort } from 'node:worker_threads';
import { builtin } from '../../core/builtin.cjs';
import { isThenable } from '../../core/realm.cjs';
import { performance } from '../../core/timers.cjs';
import { atTurnEnd, onceAt } from '../../core/turn.cjs';
import {
  type Batch,
  type Board,
  CONDEMNED,
  type Definition,
  ENDED,
  maxDefinitions,
  NO_FUNCTION,
  placeMask,
  RUNNING,
  type Stop,
  THREW,
  WAITING,
} from '../protocol.cjs';
import { Context, stop } from './context.cjs';
import { textOf } from './error.cjs';
import { type Handler, load, loadDurable } from './functions.cjs';
import { Outbox } from './outbox.cjs';

const { receiveMessageOnPort } = builtin('node:worker_threads');

/** A task this long, in ms, keeps results of short ones from leaving: after one each leaves at once for a while. Shorter ones may be short ones that the system has interrupted. */
const longMs = 10;
/** For how many tasks. */
const watched = 64;
/** How long work may go on without a turn of the worker's loop, in ms: its timers and streams have to go on as well. */
const turnMs = 10;

/** A function: loaded, being loaded, or why it cannot be, which is kept until its tasks have failed. */
type Entry = {
  handler: Handler | null;
  error: unknown;
  loading: Promise<void> | null;
};

interface Work {
  readonly batch: Batch;
  readonly entry: Entry;
}

/** Runs what the main thread sends, in order, as many at a time as are allowed. */
export class Runner {
  readonly #port: MessagePort;
  readonly #board: Board;
  readonly #concurrency: number;
  readonly #offsetMs: number;
  readonly #outbox: Outbox;
  readonly #load: typeof load;
  /** By number. */
  readonly #definitions = new Map<number, Definition>();
  /** Functions that are loaded, or being loaded, by file and then by name. */
  readonly #functions = new Map<string, Map<string, Entry>>();
  readonly #works: Work[] = [];
  #work: Work | null = null;
  #index = 0;
  /** Tasks that have begun and not ended. */
  #running = 0;
  /** The function of the next task is being loaded. */
  #loading = false;
  #repliedMs = 0;
  /** How often results leave at the least, in ms; as the last batch says. */
  #replyMs = 0;
  /** For how many more tasks short ones are not kept back. */
  #watchful = 0;
  #pumping = false;
  /** When the loop last got a turn in which its timers and streams lived, in ms; it may have had others. */
  #turnedMs = 0;
  #turnScheduled = false;

  /** `offsetMs`: how far the main thread's clock is ahead of this one's. `isDurable`: tasks come with their ids. */
  constructor(
    port: MessagePort,
    board: Board,
    concurrency: number,
    offsetMs: number,
    isDurable = false,
  ) {
    this.#port = port;
    this.#board = board;
    this.#concurrency = concurrency;
    this.#offsetMs = offsetMs;
    this.#outbox = new Outbox(port);
    this.#load = isDurable ? loadDurable : load;
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
    const definition = this.#definitionOf(message);
    if (definition === undefined) this.#unreadable('of a function that it was not told');
    else this.#works.push({ batch: message, entry: this.#entry(...definition) });
  }

  #definitionOf([, id, , , , told]: Batch): Definition | undefined {
    if (told === null) return this.#definitions.get(id);
    if (this.#definitions.size === maxDefinitions) this.#definitions.clear();
    this.#definitions.set(id, told);
    return told;
  }

  /** Nobody here can tell which tasks were in a message that cannot be read: the main thread can, and ends this one. */
  #unreadable(error: unknown): void {
    this.#running = Number.POSITIVE_INFINITY;
    // Those that have ended leave before it says so.
    this.flush();
    this.#port.postMessage(`tasks cannot be read: ${textOf(error)}`);
  }

  #entry(filename: string, name: string): Entry {
    let ofFile = this.#functions.get(filename);
    if (ofFile === undefined) {
      ofFile = new Map();
      this.#functions.set(filename, ofFile);
    }
    const known = ofFile.get(name);
    if (known) return known;
    const entry: Entry = { handler: null, error: null, loading: null };
    ofFile.set(name, entry);
    entry.loading = this.#load(filename, name).then(
      (handler) => {
        entry.handler = handler;
        entry.loading = null;
      },
      (error) => {
        entry.error = error;
        entry.loading = null;
        // A file that can be loaded later is loaded then.
        ofFile.delete(name);
        if (ofFile.size === 0) this.#functions.delete(filename);
      },
    );
    return entry;
  }

  #pump(): void {
    // Messages and the ends of tasks may follow one another without a turn of the loop.
    if (this.#pumping || this.#turnScheduled) return;
    this.#pumping = true;
    try {
      this.#run();
    } finally {
      this.#pumping = false;
    }
  }

  #run(): void {
    let nowMs = performance.now();
    while (this.#running < this.#concurrency && !this.#loading) {
      if (this.#work === null && !this.#nextWork()) break;
      const { entry, batch } = this.#work!;
      const [first, , tasks, attempts, guarded] = batch;
      if (entry.loading !== null) {
        this.#loading = true;
        entry.loading.then(() => {
          this.#loading = false;
          this.#pump();
        });
        break;
      }
      if (this.#outbox.size > 0 && (guarded || this.#watchful > 0)) {
        this.#reply(nowMs);
        // What tasks have printed keeps results back; then this goes on when they have left.
        if (guarded && this.#outbox.size > 0) break;
      }
      const index = this.#index++;
      if (this.#index === tasks.length) this.#work = null;
      const number = first + index;
      nowMs = this.#runTask(entry, number, tasks[index], attempts?.[index] ?? 0, nowMs);
      if (nowMs - this.#repliedMs > this.#replyMs) this.#reply(nowMs);
      if (nowMs - this.#turnedMs > turnMs) {
        this.#turn();
        break;
      }
    }
    if (this.#outbox.size === 0) return;
    // A task that waits for something may end within this turn, with more to follow.
    if (this.#running > 0 || this.#loading) this.#replySoon();
    else if (this.#work === null && this.#works.length === 0) this.#reply(nowMs);
  }

  /** Goes on to what has arrived. */
  #nextWork(): boolean {
    while (this.#works.length === 0 && this.#receive());
    this.#work = this.#works.shift() ?? null;
    this.#index = 0;
    if (this.#work === null) return false;
    this.#replyMs = this.#work.batch[6];
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
  #runTask(entry: Entry, number: number, task: unknown, attempt: number, nowMs: number): number {
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
      return this.#ended(number, nowMs, null);
    }
    const context = new Context(this.#board, number, attempt);
    try {
      const result = entry.handler(task, context);
      if (isThenable(result)) {
        // A thenable may call back twice, at once, or throw: a promise does not.
        const promise = Promise.resolve(result);
        this.#running++;
        promise.then(
          (value) => {
            this.#outbox.add(number, value);
            this.#settled(number, nowMs, context);
          },
          (error) => {
            this.#outbox.fail(number, THREW, error);
            this.#settled(number, nowMs, context);
          },
        );
        return performance.now();
      }
      this.#outbox.add(number, result);
    } catch (error) {
      this.#outbox.fail(number, THREW, error);
    }
    return this.#ended(number, nowMs, context);
  }

  #settled(number: number, beganMs: number, context: Context): void {
    const nowMs = this.#ended(number, beganMs, context);
    this.#running--;
    if (nowMs - this.#repliedMs > this.#replyMs) this.#reply(nowMs);
    this.#pump();
  }

  #ended(number: number, beganMs: number, context: Context | null): number {
    const nowMs = performance.now();
    const place = number & placeMask;
    const tookMs = nowMs - beganMs;
    this.#board.tookMs[place] = tookMs;
    const word = Atomics.exchange(this.#board.words, place, ENDED);
    // This thread is being ended: the next task would end with it, and can run elsewhere as long as it has not begun.
    if (word === CONDEMNED) this.#running = Number.POSITIVE_INFINITY;
    context?.end(word);
    if (tookMs > longMs) this.#watchful = watched;
    else if (this.#watchful > 0) this.#watchful--;
    return nowMs;
  }

  #reply(nowMs: number): void {
    this.#repliedMs = nowMs;
    const { stdout, stderr } = process;
    if (stdout.writableLength === 0 && stderr.writableLength === 0) this.#outbox.send();
    else void this.#replyPrinted([stdout, stderr]);
  }

  /**
   * What tasks have printed goes through the main thread, which may end the process once it has the results. Those of tasks
   * that have printed meanwhile wait, too.
   */
  async #replyPrinted(streams: NodeJS.WriteStream[]): Promise<void> {
    if (this.#printing) return;
    this.#printing = true;
    for (;;) {
      const busy = streams.filter((each) => each.writable && each.writableLength > 0);
      if (busy.length === 0) break;
      await Promise.all(busy.map((each) => new Promise((resolve) => each.write('', resolve))));
    }
    this.#printing = false;
    this.#outbox.send();
    this.#pump();
  }

  #printing = false;

  readonly #replySoon = onceAt(atTurnEnd, () => this.#reply(performance.now()));

  #turn(): void {
    if (this.#turnScheduled) return;
    this.#turnScheduled = true;
    atTurnEnd(() => {
      this.#turnScheduled = false;
      this.#turnedMs = performance.now();
      this.#pump();
    });
  }
}
