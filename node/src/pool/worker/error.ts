/** Cloning an error keeps its message and stack. What else callers go by travels beside it: `code`, `name`, … */

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

export function propertiesOf(error: unknown): Record<string, unknown> | null {
  if (!(error instanceof Error)) return null;
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
