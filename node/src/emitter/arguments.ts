/** How an event carries the arguments of its emit. */

/** The arguments of an event. */
export type Arguments = unknown[];

/** An event's data is its argument if it has one that is no array, else the list of its arguments: most need no list. */
export function compact(args: Arguments): unknown {
  return args.length === 1 && !Array.isArray(args[0]) ? args[0] : args;
}

/** The list again. */
export function argsOf(data: unknown): Arguments {
  return Array.isArray(data) ? data : [data];
}

/** What a batch handler gets for an event. */
export function itemOf(args: Arguments): unknown {
  return args.length === 1 ? args[0] : args;
}
