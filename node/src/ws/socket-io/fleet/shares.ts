/**
 * What the clients of other nodes acknowledge. socket.io is told once how many of a node it has to wait for, and cannot take
 * that back: so it is told when a node's share is over, because all have answered or because the node is gone.
 */
interface Share {
  /** Null before the node has counted its clients. */
  expected: number | null;
  answered: number;
}

export class Shares {
  readonly #open = new Map<string, Share>();

  constructor(
    nodes: readonly string[],
    readonly onAnswer: (value: unknown) => void,
    readonly onCount: (count: number) => void,
    readonly onEnd: () => void,
  ) {
    for (const node of nodes) this.#open.set(node, { expected: null, answered: 0 });
  }

  counted(node: string, count: number): void {
    const share = this.#open.get(node);
    if (share === undefined) return;
    share.expected = count;
    this.#look(node, share);
  }

  answered(node: string, value: unknown): void {
    const share = this.#open.get(node);
    if (share === undefined) return;
    share.answered++;
    this.onAnswer(value);
    this.#look(node, share);
  }

  /** No more will come from it than has come. */
  gone(node: string): void {
    const share = this.#open.get(node);
    if (share === undefined) return;
    share.expected = share.answered;
    this.#look(node, share);
  }

  #look(node: string, { expected, answered }: Share): void {
    if (expected === null || answered < expected) return;
    this.#open.delete(node);
    this.onCount(answered);
    if (this.#open.size === 0) this.onEnd();
  }
}
