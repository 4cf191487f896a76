/** Sentences about mistakes. Only loaded when there is one. */
import { builtin } from '../core/builtin.cjs';

const { inspect } = builtin('node:util');

/** A value as a message shows it: on one line, cut where it is long. */
export function show(value: unknown): string {
  const text = inspect(value, { breakLength: Number.POSITIVE_INFINITY, maxStringLength: 80 });
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

/** "unknown WHAT 'NAME' in PLACE", what was probably meant, and what is known. */
export function unknown(
  what: string,
  name: string,
  place: string,
  known: readonly string[],
): string {
  const guess = nearest(name, known);
  const hint = guess === undefined ? '' : ` (is '${guess}' meant?)`;
  return `unknown ${what} ${show(name)} in ${place}${hint}; known are ${known.join(', ')}`;
}

function nearest(name: string, known: readonly string[]): string | undefined {
  try {
    // An ES module, which Node.js before 20.19 and 22.12 cannot load from here: there is no guess then.
    const module = require('../core/nearest.js') as {
      nearest(name: string, known: readonly string[]): string | undefined;
    };
    return module.nearest(name, known);
  } catch {
    return undefined;
  }
}
