/** A mark of the code that an experiment measures and is measured by, so that rounds of two days can be told to be of the same code. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the working copy, or the folder in which packages are installed. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** In a working copy: what arms, loads and the lab itself are made of. */
const PARTS = ['packages', 'examples', 'bench/claims', 'package-lock.json'];

/** The folder in which the lab is installed: the lab itself. */
const LAB = fileURLToPath(new URL('../', import.meta.url));

const CODE = /\.([cm]?js|cts|ts|json|node|c|h|html|css)$/;

/** Tests measure nothing, and results change with each run. */
const LEFT_OUT = /^(node_modules|(millrace-)?results|soak|types|test(-.*)?|\..*)$/;

/**
 * The files of the code, each with a hash of its bytes.
 *
 * @param {string} file of the experiment
 * @returns {Record<string, string>} by path, from the root of the working copy
 */
export function codeOf(file) {
  const parts = existsSync(join(ROOT, 'examples')) ? PARTS.map((each) => join(ROOT, each)) : [LAB];
  const files = new Set([resolve(file), ...parts.flatMap(filesOf)]);
  return Object.fromEntries([...files].map((path) => [relative(ROOT, path), hashOf(path)]));
}

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.test(entry.name)) return [];
    const inner = join(path, entry.name);
    if (entry.isDirectory()) return filesOf(inner);
    return entry.isFile() && CODE.test(entry.name) ? [inner] : [];
  });
}

const hashOf = (path) =>
  createHash('sha256').update(readFileSync(path)).digest('base64url').slice(0, 12);
