/** Objects to come back to, as long as somebody else keeps them. */
export class WeakList<Item extends object> {
  #places: WeakRef<Item>[] = [];
  #sweepAt = 64;

  add(item: Item): void {
    this.#places.push(new WeakRef(item));
    if (this.#places.length < this.#sweepAt) return;
    this.#places = this.#places.filter((place) => place.deref() !== undefined);
    this.#sweepAt = Math.max(64, 2 * this.#places.length);
  }

  /** Those that are there. Empties the list. */
  take(): Item[] {
    const places = this.#places;
    this.#places = [];
    return places.map((place) => place.deref()).filter((item) => item !== undefined);
  }
}
