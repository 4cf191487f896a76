import type { PriorityClass } from '../intake/priority.js';
import { classOfType } from '../intake/priority.js';
import type { Rate } from './policy.js';
import type { Lane } from './lane.js';

/** More than any queue can hold; a small integer, which compares faster than Infinity. */
export const unlimited = 2 ** 30;

/** What the map holds for a type: how many of its events are queued, its settings, its rate. */
export class TypeEntry {
  readonly type: unknown;
  priority: PriorityClass;
  /** Events of this type a batch can hold; `unlimited` when the type has no limit of its own. */
  maxBatch = unlimited;
  /** Somebody set something for this type or holds on to it: it stays when the type has no events. */
  pinned = false;
  /** Queued events of this type. */
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
}
