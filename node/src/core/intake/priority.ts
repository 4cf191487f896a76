/** Classes of events and how a type gets its class when nobody says one. */
import { MillraceError, show } from '../../errors.js';

/** HIGH ends any hold and leaves first. After each `maxDeferral`, a waiting event counts as one class higher. */
export type Priority = 'high' | 'normal' | 'low';

export const HIGH = 0;
export const NORMAL = 1;
export const LOW = 2;
export type PriorityClass = typeof HIGH | typeof NORMAL | typeof LOW;

export const priorities: readonly Priority[] = ['high', 'normal', 'low'];

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

/** The class of a priority's name; anything else is an error that lists the names. */
export function classOf(priority: unknown): PriorityClass {
  if (typeof priority === 'string' && Object.hasOwn(classes, priority)) {
    return classes[priority as Priority];
  }
  throw new MillraceError(
    'MILLRACE_E_INVALID_OPTION',
    `priority is ${show(priority)}; it must be one of 'high', 'normal', 'low'`,
  );
}
