import type { PriorityClass } from '../intake/priority.js';
import { classOfType } from '../intake/priority.js';
import type { Rate } from './estimate/rate.js';
import type { BatchEvent } from './event.js';
import type { Lane } from './lane.js';

/** What the map holds for a type: its queued events, its settings, its rate. */
export class TypeEntry {
  readonly type: unknown;
  priority: PriorityClass;
  /** Events of this type a batch can hold; Infinity when the type has no limit of its own. */
  maxBatch = Number.POSITIVE_INFINITY;
  /** The user set something for this type: the entry stays when the type has no events. */
  configured = false;
  /** Queued events of this type, in order of arrival. */
  head: BatchEvent | null = null;
  tail: BatchEvent | null = null;
  count = 0;
  /** Order `type`: the type's lane in each class, made when first needed. */
  readonly lanes: [Lane | null, Lane | null, Lane | null] = [null, null, null];
  /** Events pushed since the rate was last updated. */
  fresh = 0;
  readonly rate: Rate = { value: 0, at: 0 };
  /** Events of this type in the batch that is being taken, valid for the batch numbered `chosenIn`. */
  chosen = 0;
  chosenIn = 0;

  constructor(type: unknown) {
    this.type = type;
    this.priority = classOfType(type);
  }

  append(event: BatchEvent): void {
    const { tail } = this;
    event.typePrev = tail;
    if (tail === null) this.head = event;
    else tail.typeNext = event;
    this.tail = event;
    this.count++;
  }

  remove(event: BatchEvent): void {
    const { typeNext, typePrev } = event;
    if (typePrev === null) this.head = typeNext;
    else typePrev.typeNext = typeNext;
    if (typeNext === null) this.tail = typePrev;
    else typeNext.typePrev = typePrev;
    event.typeNext = null;
    event.typePrev = null;
    this.count--;
  }
}
