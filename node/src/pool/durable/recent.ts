/** The last texts, up to a number. One that is longer than `mostLength` is none of them. */
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
