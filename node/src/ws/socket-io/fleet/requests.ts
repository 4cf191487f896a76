/** What one node has asked the others, until each has answered, is gone, or the time is over. */
import { clearTimeout, setTimeout } from '../../../core/timers.cjs';
import { MillraceError } from '../../../errors.js';

/** A timer with a longer time fires at once. */
export const longestMs = 2 ** 31 - 1;

/** What becomes of a request. */
interface Asker {
  /** A part of an answer of a node that was asked. */
  onPart(node: string, part: unknown): void;
  /** For acknowledgements: how many clients a node has asked; and that it is gone. These end by `finish()` or the timeout. */
  onCount?(node: string, count: number): void;
  onGone?(node: string): void;
  /** The end: null, or why it is not complete. */
  onEnd(error: Error | null): void;
}

interface Request {
  readonly asker: Asker;
  readonly asked: ReadonlySet<string>;
  readonly missing: Set<string>;
  readonly timer: NodeJS.Timeout;
}

export class Requests {
  readonly #open = new Map<number, Request>();
  #last = 0;

  constructor(readonly counts: { requests: number }) {}

  /** The number of a request, for the message that asks. */
  next(): number {
    return ++this.#last;
  }

  /** Without a node to ask it ends right away. */
  open(id: number, nodes: readonly string[], timeoutMs: number, asker: Asker): void {
    if (nodes.length === 0) {
      asker.onEnd(null);
      return;
    }
    const late = () => this.#end(id, this.#late(id, timeoutMs));
    const timer = setTimeout(late, Math.min(timeoutMs, longestMs));
    this.#open.set(id, { asker, asked: new Set(nodes), missing: new Set(nodes), timer });
    this.counts.requests++;
  }

  part(id: number, node: string, part: unknown): void {
    const request = this.#open.get(id);
    if (request?.asked.has(node)) request.asker.onPart(node, part);
  }

  counted(id: number, node: string, count: number): void {
    const request = this.#open.get(id);
    if (request?.asked.has(node)) request.asker.onCount?.(node, count);
    this.answered(id, node);
  }

  /** The node has given its last part, or is gone. */
  answered(id: number, node: string): void {
    const request = this.#open.get(id);
    if (!request?.missing.delete(node)) return;
    if (request.missing.size === 0 && request.asker.onGone === undefined) this.#end(id, null);
  }

  fail(id: number, node: string, error: Error): void {
    if (this.#open.get(id)?.missing.has(node)) this.#end(id, error);
  }

  gone(node: string): void {
    for (const [id, { asker, asked }] of [...this.#open]) {
      if (asked.has(node)) asker.onGone?.(node);
      this.answered(id, node);
    }
  }

  finish(id: number): void {
    this.#end(id, null);
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.#end(id, null);
  }

  #end(id: number, error: Error | null): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    this.#open.delete(id);
    this.counts.requests--;
    clearTimeout(request.timer);
    request.asker.onEnd(error);
  }

  #late(id: number, timeoutMs: number): MillraceError {
    const { missing = new Set() } = this.#open.get(id) ?? {};
    return new MillraceError(
      'MILLRACE_E_TIMEOUT',
      `timeout reached: ${missing.size} other servers have not answered within ${timeoutMs} ms`,
    );
  }
}
