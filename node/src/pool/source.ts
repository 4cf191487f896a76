/** Where the function of a task is: in which file, and under which name it is exported. */
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkKeys } from '../core/options.js';
import { isURL } from '../core/realm.cjs';
import { MillraceError, show } from '../errors.js';

/** A file with functions, and the name of one of its exports; `default` if none is given. */
export type FunctionSource = string | URL | { filename: string | URL; name?: string };

/** Those of the option `functions`, by name. */
export function functionsOf(
  given: Readonly<Record<string, FunctionSource>>,
): Map<string, { filename: string; name: string }> {
  return new Map(
    Object.entries(given).map(([name, source]) => [
      name,
      sourceOf(source, `options.functions.${name}`),
    ]),
  );
}

/** A file and an export of it. */
export function sourceOf(
  source: FunctionSource,
  where: string,
): { filename: string; name: string } {
  if (typeof source === 'object' && source !== null && !isURL(source)) {
    checkKeys(where, source, ['filename', 'name']);
    const { filename, name = 'default' } = source;
    if (typeof name !== 'string') {
      throw new MillraceError(
        'MILLRACE_E_INVALID_OPTION',
        `${where}.name is ${show(name)}; it must be a string: the name of an export`,
      );
    }
    return { filename: pathOf(filename, `${where}.filename`), name };
  }
  return { filename: pathOf(source, where), name: 'default' };
}

/** The path of a file. A function's code as text is not one: workers only run what is in files. */
export function pathOf(file: string | URL, where: string): string {
  const text = isURL(file) ? file.href : file;
  if (typeof text !== 'string' || text === '') {
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `${where} is ${show(file)}; it must be a string: the path or file: URL of a file`,
    );
  }
  if (text.startsWith('file:')) return fileURLToPath(text);
  if (/^[a-z][a-z0-9+.-]+:/i.test(text) && !isAbsolute(text)) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `${where} is ${show(text)}; it must be a path or a file: URL: workers run what is in files, nothing else`,
    );
  }
  return isAbsolute(text) ? text : resolve(text);
}
