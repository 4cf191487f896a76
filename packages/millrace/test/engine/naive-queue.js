// The queue-map as an array that is sorted and filtered: too slow to use, too simple to be wrong.

const normalPerLow = 8;

export class NaiveQueue {
  events = [];
  counter = 0;

  constructor(byType) {
    this.byType = byType;
  }

  push(event) {
    this.events.push(event);
  }

  cancel(event) {
    const at = this.events.indexOf(event);
    if (at < 0) return false;
    this.events.splice(at, 1);
    return true;
  }

  #lane(event) {
    return this.byType ? `${event.priority} ${event.type}` : event.priority;
  }

  /** Events in the order in which those of one class would be chosen. */
  #inOrder(events) {
    if (!this.byType) return events;
    const lanes = groupBy(events, (event) => this.#lane(event));
    return [...lanes.values()].flat();
  }

  take(limit, now, maxDeferral) {
    const cut = this.events.length > limit;
    const deferrals = (event) => [1, 2].filter((n) => event.time <= now - n * maxDeferral).length;
    const counts = (event) => Math.max(0, event.priority - deferrals(event));
    const waiting = [0, 1, 2].map((priority) =>
      this.#inOrder(this.events.filter((event) => counts(event) === priority)),
    );
    let lowLane = null;
    const chosen = [[], [], []];
    const ofType = new Map();
    for (let n = 0; n < Math.min(limit, this.events.length); n++) {
      const [, normals] = waiting;
      // A lane is always first in, first out: behind an event that counts as NORMAL nothing is chosen as LOW.
      const lows = waiting[2].filter(
        (event) =>
          !normals.some((other) => other.priority === 2 && this.#lane(other) === this.#lane(event)),
      );
      const sameLane = lows.filter((event) => this.#lane(event) === lowLane);
      const lowsTurn =
        normals.length === 0 || (cut && this.counter >= normalPerLow && lows.length > 0);
      const group = waiting[0].length > 0 ? 0 : lowsTurn ? 2 : 1;
      if (group === 2 && lows.length === 0) break;
      const event = group === 2 ? (sameLane[0] ?? oldest(lows)) : waiting[group][0];
      if (group === 2) lowLane = this.#lane(event);
      const count = (ofType.get(event.type) ?? 0) + 1;
      if (count > event.entry.maxBatch) break;
      ofType.set(event.type, count);
      waiting[group].splice(waiting[group].indexOf(event), 1);
      chosen[group].push(event);
      if (group === 1) this.counter = Math.min(normalPerLow, this.counter + 1);
      if (group === 2) this.counter = 0;
    }
    const batch = chosen.flat();
    this.events = this.events.filter((event) => !batch.includes(event));
    return batch;
  }
}

const oldest = (events) => events.reduce((a, b) => (a.seq < b.seq ? a : b));

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}
