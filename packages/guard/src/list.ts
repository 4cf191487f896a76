/** Doubly linked list through its items: no allocation, and removal at any place. */

/** Links of a list item. An item is in one list at a time. */
export interface Linked<Item> {
  previous: Item | null;
  next: Item | null;
}

export class List<Item extends Linked<Item>> {
  first: Item | null = null;
  last: Item | null = null;
  size = 0;

  push(item: Item): void {
    item.previous = this.last;
    item.next = null;
    if (this.last === null) this.first = item;
    else this.last.next = item;
    this.last = item;
    this.size++;
  }

  remove(item: Item): void {
    const { previous, next } = item;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.last = previous;
    else next.previous = previous;
    item.previous = null;
    item.next = null;
    this.size--;
  }
}
