import type { MessagePort, Transferable as TransferItem } from 'node:worker_threads';
import { isMoved, transferOf, valueSymbol } from '../movable.cjs';
import { type Failure, NOT_CLONABLE, type Reply } from '../protocol.cjs';
import { packed, textOf } from './error.cjs';

/** Results that have not left yet. Those of tasks that ended in order are named by the first number. */
export class Outbox {
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

/** Those of the transfers that belong to a result: it is one, or is a view of one, or may have it inside. */
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
