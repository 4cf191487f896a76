/** Classes of events and how a type gets its class when nobody says one. */
import { choice } from '@millrace/base/schema';

/**
 * Class of an event or task. HIGH ends any hold and leaves first. After each `maxDeferral`, a waiting event counts as one
 * class higher.
 */
export type Priority = 'high' | 'normal' | 'low';

export const HIGH = 0;
export const NORMAL = 1;
export const LOW = 2;
export type PriorityClass = typeof HIGH | typeof NORMAL | typeof LOW;

export const priorities: readonly Priority[] = ['high', 'normal', 'low'];

/** The option `priority`. */
export const priorityField = choice(priorities);

const classes: Readonly<Record<Priority, PriorityClass>> = { high: HIGH, normal: NORMAL, low: LOW };

/** The kinds of event that libuv knows; any other type is NORMAL. */
const byType = new Map<unknown, PriorityClass>([
  ['signal', HIGH],
  ['process', HIGH],
  ['async', HIGH],
  ['network', NORMAL],
  ['filesystem', NORMAL],
  ['stream', NORMAL],
  ['idle', LOW],
  ['work', LOW],
  ['background', LOW],
]);

export function classOfType(type: unknown): PriorityClass {
  return byType.get(type) ?? NORMAL;
}

/** The class of a priority that was checked. */
export const classOf = (priority: Priority): PriorityClass => classes[priority];
