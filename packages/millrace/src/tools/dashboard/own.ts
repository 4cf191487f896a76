/**
 * Marks the dashboard's own servers and sockets, so that whatever acts on or counts those of the application leaves them alone.
 * A symbol of the registry: the modules that look at it need not load this one.
 */
const symbol = Symbol.for('millrace.own');

export function markOwn<Marked extends object>(object: Marked): Marked {
  Object.defineProperty(object, symbol, { value: true });
  return object;
}
