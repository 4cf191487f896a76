/** Where the function of a task is: in which file, and under which name it is exported. */
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseValue, refused } from '../core/options.js';
import { isURL } from '../core/realm.cjs';
import * as is from '../core/schema.cjs';

/** A file with functions, and the name of one of its exports; `default` if none is given. */
export type FunctionSource = string | URL | { filename: string | URL; name?: string };

/** Those of the option `functions`, by name; `what` begins the messages. */
export function functionsOf(
  what: string,
  given: Readonly<Record<string, FunctionSource>>,
): Map<string, { filename: string; name: string }> {
  return new Map(
    Object.entries(given).map(([name, source]) => [
      name,
      sourceOf(source, what, `functions.${name}`),
    ]),
  );
}

const sourceSchema = is.schema({
  // Read by {@link pathOf}.
  filename: is.anything<string | URL>(),
  name: is.or(is.text('a string: the name of an export'), 'default'),
});

/** A file and an export of it; `option` is what it is called in a message. */
export function sourceOf(
  source: FunctionSource,
  what: string,
  option: string,
): { filename: string; name: string } {
  if (typeof source !== 'object' || source === null || isURL(source)) {
    return { filename: pathOf(source, what, option), name: 'default' };
  }
  const { filename, name } = parseValue(what, option, source, is.object(sourceSchema));
  return { filename: pathOf(filename, what, `${option}.filename`), name };
}

/** The path of a file. A function's code as text is not one: workers only run what is in files. */
export function pathOf(file: unknown, what: string, option: string): string {
  const path = isURL(file) ? file.href : file;
  if (typeof path !== 'string' || path === '') {
    throw refused(what, option, file, 'a string: the path or file: URL of a file');
  }
  if (path.startsWith('file:')) return fileURLToPath(path);
  if (/^[a-z][a-z0-9+.-]+:/i.test(path) && !isAbsolute(path)) {
    const why = 'a path or a file: URL: workers run what is in files, nothing else';
    throw refused(what, option, path, why);
  }
  return isAbsolute(path) ? path : resolve(path);
}
