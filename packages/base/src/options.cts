/** Checks options by a schema of schema.cts, with a MillraceError: the one way for all packages. */

import { MillraceError } from './errors.cjs';
import {
  badValue,
  type Field,
  type Fields,
  type Given,
  type Parsed,
  passes,
  readField,
  readOptions,
  type Schema,
  show,
  unknownOption,
} from './schema.cjs';

const error = (message: string) => new MillraceError('MILLRACE_E_INVALID_OPTION', message);

/** The options with their defaults. Throws MILLRACE_E_INVALID_OPTION. `what` begins the message: the function or class that takes them. */
export function parse<F extends Fields>(
  what: string,
  given: unknown,
  schema: Schema<F>,
): Parsed<F> {
  return readOptions({ what, error }, given, schema, '', { ...schema.defaults });
}

/** Checks options without defaults: only options that are given. */
export function parseGiven<F extends Fields>(
  what: string,
  given: unknown,
  schema: Schema<F>,
): Given<F> {
  return readOptions({ what, error }, given, schema, '', {});
}

/** Checks options without a result, for calls whose options are used as they were given, of which none must be given. */
export function check(what: string, given: unknown, schema: Schema): void {
  if (!passes(given, schema)) readOptions({ what, error }, given, schema, '', null);
}

/** Checks a value that is no option of an object. Throws MILLRACE_E_INVALID_OPTION. */
export function parseValue<Output>(
  what: string,
  name: string,
  value: unknown,
  field: Field<any, Output, any>,
): Output {
  // Calls are checked with it: those that are right allocate nothing.
  if (field.inside === undefined && field.fits(value)) return value as Output;
  return readField({ what, error }, value, field, name);
}

/** The error for what a schema cannot say: options that do not go together, or with what is there. */
export function refused(
  what: string,
  name: string,
  value: unknown,
  wanted: string,
  options?: ErrorOptions,
): MillraceError {
  const message = badValue(what, name, show(value), wanted);
  return new MillraceError('MILLRACE_E_INVALID_OPTION', message, options);
}

/** The error for an unknown name. */
export const unknown = (what: string, name: string, known: readonly string[]): MillraceError =>
  error(unknownOption(what, name, known));

/** The error for what is wrong with no single value, such as a file that cannot be read. */
export const fault = (what: string, sentence: string, options?: ErrorOptions): MillraceError =>
  new MillraceError('MILLRACE_E_INVALID_OPTION', `${what}: ${sentence}`, options);
