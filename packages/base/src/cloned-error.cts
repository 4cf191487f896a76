/** Cloning an error keeps its message and stack. What else callers rely on travels beside it: `code`, `name`, … */
import { isDOMException, isError } from './realm.cjs';

/** Names that cloning keeps. */
const keptNames = new Set([
  'Error',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
]);

/** An error as it is sent, and what cloning drops of it; null for nothing. */
export function packed(error: unknown): [unknown, Record<string, unknown> | null] {
  try {
    return isDOMException(error) ? plain(error) : [error, propertiesOf(error)];
  } catch {
    // One of its getters throws.
    return [error, null];
  }
}

/** Copies an error of `fetch` or of an aborted signal, which some versions of Node.js clone to an empty object. */
function plain({ name, code, message, stack }: DOMException): [Error, Record<string, unknown>] {
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return [error, { name, code }];
}

/** Text of a thrown value, whatever it is. */
export function textOf(error: unknown): string {
  try {
    const { name, message } = (error ?? {}) as Partial<Error>;
    return message === undefined ? String(error) : `${name}: ${message}`;
  } catch {
    return 'something that cannot be shown';
  }
}

function propertiesOf(error: unknown): Record<string, unknown> | null {
  if (!isError(error)) return null;
  const properties: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(error)) {
    if (isPlain(value)) properties[key] = value;
  }
  if (!keptNames.has(error.name)) properties.name = String(error.name);
  return Object.keys(properties).length === 0 ? null : properties;
}

function isPlain(value: unknown): boolean {
  if (value === null) return true;
  return ['string', 'number', 'boolean', 'bigint', 'undefined'].includes(typeof value);
}
