/** The other nodes: when each was heard, and which version of its list of members is known; and those that are gone. */
import { performance } from '../../../core/timers.cjs';

/** Version of a list: none is known yet. */
export const unknown = -1;

export interface Node {
  heardMs: number;
  beatMs: number;
  /** Version of its list that is known. */
  version: number;
  askedMs: number;
}

const beatsUntilGone = 3;
/** For how long something that a node said before its goodbye may still be on its way, as in a stream that is read late. */
const forgetMs = 600_000;
/** A node that fell silent may have been cut off: when it comes back, it sends again what may not have been stored. */
const forgetSilentMs = 86_400_000;
/** So that made-up names do not use up the memory; as many are remembered of those that are gone. */
export const mostNodes = 10_000;

export class Known {
  readonly #beatMs: number;
  readonly #nodes = new Map<string, Node>();
  /** Until when they are remembered. */
  readonly #gone = new Map<string, number>();

  /** `beatMs` is that of a node which has not said its own. */
  constructor(beatMs: number) {
    this.#beatMs = beatMs;
  }

  /** Those whose members are known. O(n). */
  get size(): number {
    let known = 0;
    for (const { version } of this.#nodes.values()) if (version !== unknown) known++;
    return known;
  }

  /** A node says something. Null for one more than are known: it waits until another is gone. */
  heard(name: string): Node | null {
    const now = performance.now();
    let node = this.#nodes.get(name);
    if (node === undefined) {
      if (this.#nodes.size >= mostNodes) return null;
      node = {
        heardMs: now,
        beatMs: this.#beatMs,
        version: unknown,
        askedMs: Number.NEGATIVE_INFINITY,
      };
      this.#nodes.set(name, node);
      this.#gone.delete(name);
    }
    node.heardMs = now;
    return node;
  }

  /** Nobody could be heard until now, so nobody's silence means anything. */
  wake(): void {
    const now = performance.now();
    for (const node of this.#nodes.values()) node.heardMs = now;
  }

  /** For this long nobody was listened to. */
  wakeAfter(ms: number): void {
    for (const node of this.#nodes.values()) node.heardMs += ms;
  }

  /** Names of nodes that have been silent for too long. */
  silent(): string[] {
    const now = performance.now();
    const isSilent = ({ heardMs, beatMs }: Node) => now - heardMs > beatsUntilGone * beatMs;
    return [...this.#nodes].filter(([, node]) => isSilent(node)).map(([name]) => name);
  }

  /** False for one that is not known. */
  remove(name: string, isSilent: boolean): boolean {
    if (!this.#nodes.delete(name)) return false;
    // The oldest is not told of: whoever would be told bounds what it keeps of senders by itself.
    if (this.#gone.size >= mostNodes) this.#gone.delete(this.#gone.keys().next().value!);
    this.#gone.set(name, performance.now() + (isSilent ? forgetSilentMs : forgetMs));
    return true;
  }

  /** Names of nodes that have been gone for so long that they are not coming back; each once. */
  forgotten(): string[] {
    const now = performance.now();
    const names = [...this.#gone].filter(([, untilMs]) => now >= untilMs).map(([name]) => name);
    for (const name of names) this.#gone.delete(name);
    return names;
  }
}
