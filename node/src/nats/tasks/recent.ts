/** A set of the last texts, up to a number, so that nothing that others send makes it grow. A text longer than `mostLength` is not added. */
export class Recent {
  readonly #texts = new Set<string>();
  readonly #most: number;
  readonly #mostLength: number;

  constructor(most: number, mostLength = Number.POSITIVE_INFINITY) {
    this.#most = most;
    this.#mostLength = mostLength;
  }

  add(text: string): void {
    if (text.length > this.#mostLength) return;
    this.#texts.add(text);
    if (this.#texts.size <= this.#most) return;
    for (const oldest of this.#texts) {
      this.#texts.delete(oldest);
      return;
    }
  }

  has(text: string): boolean {
    return this.#texts.has(text);
  }
}
