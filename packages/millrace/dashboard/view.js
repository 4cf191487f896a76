/** Selection of the store's data: processes and seconds. */
import { Span } from './series.js';
import { capacity } from './store.js';

export const ranges = [
  { seconds: 60, label: '1 min' },
  { seconds: 300, label: '5 min' },
  { seconds: 600, label: '10 min' },
  { seconds: capacity - 10, label: '30 min' },
];
/** Shortest zoom in seconds. */
const shortest = 4;
/** Time in ms within which switches of several processes count as one: each receives it at its own time. */
const togetherMs = 3000;

export class View extends EventTarget {
  process = 'all';
  seconds = 60;
  /** [from, to] in seconds since 1970; null: the latest ones. */
  zoom = null;
  /** Second at which the view is paused. */
  pausedAt = null;
  /** Connection to the server: 'live', 'lost', or null before there was one. */
  connection = null;

  constructor(store) {
    super();
    this.store = store;
  }

  set(changes) {
    Object.assign(this, changes);
    this.dispatchEvent(new Event('change'));
  }

  togglePause() {
    this.set({ pausedAt: this.pausedAt === null ? this.store.latest : null, zoom: null });
  }

  zoomTo(from, to) {
    if (to - from >= shortest) this.set({ zoom: [from, to] });
  }

  /** Zooms around the middle; more than 1 zooms out. */
  zoomBy(factor) {
    const [from, to] = this.bounds;
    const middle = (from + to) / 2;
    const half = ((to - from) / 2) * factor;
    if (half * 2 >= this.seconds) this.set({ zoom: null });
    else this.zoomTo(middle - half, middle + half);
  }

  /** Latest second shown. */
  get end() {
    return this.pausedAt ?? this.store.latest;
  }

  /** Limits of the time axis, in seconds. */
  get bounds() {
    return this.zoom ?? [this.end - this.seconds, this.end];
  }

  get selected() {
    const processes = [...this.store.processes.values()];
    return this.process === 'all'
      ? processes.filter(({ info }) => info.endedAt === null)
      : processes.filter(({ info }) => info.id === this.process);
  }

  /** Range of whole visible seconds, and one more on each side. */
  get span() {
    const [from, to] = this.bounds;
    return this.#span(Math.floor(from) - 1, Math.ceil(to) + 1);
  }

  /** Seconds from which the present figures are computed. */
  get now() {
    return this.last(3);
  }

  /** Returns the given number of latest seconds, whatever is visible. */
  last(seconds) {
    return this.#span(this.end - seconds, this.end);
  }

  get marks() {
    return this.store.marks.filter(
      ({ process }) => this.process === 'all' || process === this.process,
    );
  }

  /** Returns the marks to draw: one for several processes that switched together. */
  get lines() {
    const lines = [];
    for (const mark of this.marks) {
      const last = lines.findLast(({ feature, on }) => feature === mark.feature && on === mark.on);
      if (last === undefined || mark.at - last.at > togetherMs) lines.push(mark);
    }
    return lines;
  }

  #span(from, to) {
    const oldest = this.store.latest - capacity + 10;
    const last = Math.min(to, this.end);
    return new Span(this.selected, Math.max(from, oldest), Math.max(last, oldest));
  }
}
