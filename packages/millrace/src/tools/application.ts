/** The application's part of a command line: `FILE [args]`, or what node is given after `--`. */
import { createRequire } from 'node:module';
import { extname, join, resolve } from 'node:path';
import { absent, type Given, UsageError } from '@millrace/base/command';

/**
 * The arguments for node. A file is looked for as node does, so that its absence is reported before anything is started.
 *
 * @throws {UsageError} there is no file, or it is not there, or this Node.js needs a loader for it
 */
export function applicationArgs({ rest, isCut }: Given): readonly string[] {
  const [file] = rest;
  if (file === undefined) {
    throw new UsageError(
      isCut
        ? 'nothing follows --; add options of Node.js and a file.'
        : 'FILE, the file to start, is missing.',
    );
  }
  // Only node knows which of its options take a value.
  if (isCut) return rest;
  if (!isFound(file)) throw absent(file, 'a folder without an index.js');
  if (needsLoader(file)) {
    throw new UsageError(
      `${file} is TypeScript, for which Node.js ${process.versions.node} needs a loader: -- --import tsx ${file}.`,
    );
  }
  return rest;
}

function isFound(file: string): boolean {
  try {
    createRequire(join(process.cwd(), 'package.json')).resolve(resolve(file));
    return true;
  } catch {
    return false;
  }
}

/** Newer releases of Node.js strip the types themselves. */
function needsLoader(file: string): boolean {
  const { typescript } = process.features as { typescript?: unknown };
  const hasLoader = /(^|\s)("?)(-r|--require|--import|--loader|--experimental-loader)\b/.test(
    process.env.NODE_OPTIONS ?? '',
  );
  return ['.ts', '.mts', '.cts', '.tsx'].includes(extname(file)) && !typescript && !hasLoader;
}
