/**
 * Runs tasks in a worker, in the order in which they come.
 *
 * Before a task begins, the runner changes its word on the board from WAITING to RUNNING; if that fails the main thread has taken
 * the task back, and an empty result only frees its number. While it runs its function may listen for its end (`Context`). Then
 * the word is ENDED; if it was CONDEMNED, nothing else begins in this thread. Results leave together (`Replies`), each `replyMs`
 * or when nothing is left to run, and before a task begins that may end this thread, or long ones that would keep them waiting.
 *
 * The runner goes on within one turn of the loop for as long as there are tasks, up to `turnMs`: then timers and streams of the
 * functions have a turn.
 */
import type { MessagePort, Transferable as TransferItem } from 'node:worker_threads';
import { packed, textOf } from '@millrace/base/cloned-error';
import { isMoved, transferOf, valueSymbol } from '@millrace/base/movable';
import { builtin, isThenable } from '@millrace/base/realm';
import { performance } from '@millrace/base/timers';
import { atTurnEnd, onceAt } from '@millrace/base/turn';
import {
  type Batch,
  type Board,
  CONDEMNED,
  type Definition,
  ENDED,
  type Failure,
  LISTENING,
  maxDefinitions,
  NO_FUNCTION,
  NOT_CLONABLE,
  type Origin,
  placeMask,
  type Reply,
  RUNNING,
  STOPPING,
  type Stop,
  THREW,
  WAITING,
} from '../protocol.cjs';
import { type Handler, load, type TaskContext } from './functions.cjs';

const { receiveMessageOnPort } = builtin('node:worker_threads');

/** A task this long, in ms, keeps results of short ones from leaving: after one each leaves at once for a while. Shorter ones may be short ones that the system has interrupted. */
const longMs = 10;
/** Number of tasks for which short ones are sent at once. */
const watched = 64;
/** Longest work in ms without a turn of the worker's loop: its timers and streams have to go on as well. */
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
  readonly #replies: Replies;
  /** Definitions by number. */
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
  /** Longest time in ms between two sends of results, from the last batch. */
  #replyMs = 0;
  /** Further tasks for which short ones are sent at once. */
  #watchful = 0;
  #pumping = false;
  /** Time in ms of the loop's last turn in which its timers and streams ran; it may have had others. */
  #turnedMs = 0;
  #turnScheduled = false;

  /** `offsetMs`: how far the main thread's clock is ahead of this one's. */
  constructor(port: MessagePort, board: Board, concurrency: number, offsetMs: number) {
    this.#port = port;
    this.#board = board;
    this.#concurrency = concurrency;
    this.#offsetMs = offsetMs;
    this.#replies = new Replies(port);
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

  /** Sends the finished results now: the thread is about to end. */
  flush(): void {
    this.#replies.send();
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

  /** Reports an unreadable message: only the main thread knows its tasks, and ends this one. */
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
    entry.loading = load(filename, name).then(
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
      const [first, , tasks, origins, guarded] = batch;
      if (entry.loading !== null) {
        this.#loading = true;
        entry.loading.then(() => {
          this.#loading = false;
          this.#pump();
        });
        break;
      }
      if (this.#replies.size > 0 && (guarded || this.#watchful > 0)) {
        this.#reply(nowMs);
        // What tasks have printed keeps results back; then this goes on when they have left.
        if (guarded && this.#replies.size > 0) break;
      }
      const index = this.#index++;
      if (this.#index === tasks.length) this.#work = null;
      const number = first + index;
      nowMs = this.#runTask(entry, number, tasks[index], origins?.[index] ?? 0, nowMs);
      if (nowMs - this.#repliedMs > this.#replyMs) this.#reply(nowMs);
      if (nowMs - this.#turnedMs > turnMs) {
        this.#turn();
        break;
      }
    }
    if (this.#replies.size === 0) return;
    // A task that waits for something may end within this turn, with more to follow.
    if (this.#running > 0 || this.#loading) this.#replySoon();
    else if (this.#work === null && this.#works.length === 0) this.#reply(nowMs);
  }

  /** Runs what has arrived next. */
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
  #runTask(
    entry: Entry,
    number: number,
    task: unknown,
    origin: number | Origin,
    nowMs: number,
  ): number {
    const place = number & placeMask;
    const { words, startedMs } = this.#board;
    // The time first: whoever sees that it runs can tell since when.
    startedMs[place] = nowMs + this.#offsetMs;
    if (Atomics.compareExchange(words, place, WAITING, RUNNING) !== WAITING) {
      this.#replies.add(number, undefined);
      return nowMs;
    }
    if (entry.handler === null) {
      this.#replies.fail(number, NO_FUNCTION, entry.error);
      return this.#ended(number, nowMs, null);
    }
    const context = new Context(this.#board, number, origin);
    try {
      const result = entry.handler(task, context);
      if (isThenable(result)) {
        // A thenable may call back twice, at once, or throw: a promise does not.
        const promise = Promise.resolve(result);
        this.#running++;
        promise.then(
          (value) => {
            this.#replies.add(number, value);
            this.#settled(number, nowMs, context);
          },
          (error) => {
            this.#replies.fail(number, THREW, error);
            this.#settled(number, nowMs, context);
          },
        );
        return performance.now();
      }
      this.#replies.add(number, result);
    } catch (error) {
      this.#replies.fail(number, THREW, error);
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
    if (stdout.writableLength === 0 && stderr.writableLength === 0) this.#replies.send();
    else void this.#replyPrinted([stdout, stderr]);
  }

  /**
   * Sends results after the tasks' output, which goes through the main thread, and that may end the process once it has the
   * results. Results of tasks that print meanwhile wait, too.
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
    this.#replies.send();
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

/** Tasks whose functions have a signal, by number. */
const listening = new Map<number, AbortController>();

class Context implements TaskContext {
  readonly #board: Board;
  readonly #number: number;
  readonly #origin: number | Origin;
  #controller: AbortController | null = null;
  /** State of the task when it ended: from then on its place is another's. */
  #lastWord: number | null = null;

  constructor(board: Board, number: number, origin: number | Origin) {
    this.#board = board;
    this.#number = number;
    this.#origin = origin;
  }

  get attempt(): number {
    return typeof this.#origin === 'number' ? this.#origin : this.#origin[0];
  }

  get id(): string | null {
    return typeof this.#origin === 'number' ? null : this.#origin[1];
  }

  get delivery(): number {
    const said = typeof this.#origin === 'number' ? null : this.#origin[2];
    return said ?? this.attempt + 1;
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
function stop(number: number): void {
  listening.get(number)?.abort();
}

/** Results that have not left yet. Those of tasks that ended in order are named by the first number. */
class Replies {
  readonly #port: MessagePort;
  #numbers: number[] = [];
  #results: unknown[] = [];
  #failures: Failure[] | null = null;
  #transfers: TransferItem[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  get size(): number {
    return this.#numbers.length;
  }

  add(number: number, result: unknown): void {
    let value = result;
    if (isMoved(result)) {
      // Its getters may throw.
      try {
        value = result[valueSymbol];
        this.#transfers.push(...transferOf(result));
      } catch (error) {
        this.fail(number, NOT_CLONABLE, new Error(textOf(error)));
        return;
      }
    }
    this.#numbers.push(number);
    this.#results.push(value);
  }

  fail(number: number, kind: Failure[1], error: unknown): void {
    this.#failures ??= [];
    this.#failures.push([this.#numbers.length, kind, ...packed(error)]);
    this.#numbers.push(number);
    this.#results.push(undefined);
  }

  send(): void {
    if (this.#numbers.length === 0) return;
    const numbers = this.#numbers;
    const first = numbers[0]!;
    const inOrder = numbers[numbers.length - 1] === first + numbers.length - 1 && isSorted(numbers);
    const reply: Reply = [inOrder ? first : numbers, this.#results, this.#failures];
    const transfers = this.#transfers;
    this.#numbers = [];
    this.#results = [];
    this.#failures = null;
    this.#transfers = [];
    try {
      this.#port.postMessage(reply, transfers);
    } catch {
      this.#sendEach(numbers, reply, transfers);
    }
  }

  /** Something among them cannot be cloned or moved: only that fails. */
  #sendEach(
    numbers: readonly number[],
    [, results, failures]: Reply,
    transfers: TransferItem[],
  ): void {
    const byIndex = new Map(failures?.map((failure) => [failure[0], failure]));
    for (const [index, number] of numbers.entries()) {
      const failure = byIndex.get(index);
      const own = failure ? ([0, ...failure.slice(1)] as unknown as Failure) : null;
      try {
        const reply: Reply = [number, [results[index]], own && [own]];
        this.#port.postMessage(reply, transfersIn(results[index], transfers));
      } catch (error) {
        // At least the text of what a task has thrown is sent.
        const [, kind, thrown, properties] = failure ?? [0, NOT_CLONABLE, error, null];
        const told: Failure = [0, kind, new Error(textOf(thrown)), properties];
        this.#port.postMessage([number, [undefined], [told]] satisfies Reply);
      }
    }
  }
}

function isSorted(numbers: readonly number[]): boolean {
  for (let index = 1; index < numbers.length; index++) {
    if (numbers[index] !== numbers[index - 1]! + 1) return false;
  }
  return true;
}

/** Returns the transfers that belong to a result: it is one, or is a view of one, or may have it inside. */
function transfersIn(result: unknown, transfers: TransferItem[]): TransferItem[] {
  return transfers.filter(
    (item) =>
      item === result ||
      (ArrayBuffer.isView(result) && result.buffer === item) ||
      isInside(item, result),
  );
}

function isInside(item: unknown, result: unknown): boolean {
  return typeof result === 'object' && result !== null && Object.values(result).includes(item);
}
