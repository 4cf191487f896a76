/** Copies of the package in folders of their own, as it is installed, so that tests can spoil them. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyCode } from './code.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** The addon that make has built. */
export const addon = join(root, 'packages/millrace/addon/build/Release/millrace.node');

/**
 * @param {import('node:test').TestContext} t at whose end the copy may be another's
 * @param {object} [options]
 * @param {Buffer | string | null} [options.addon] what stands in the place of the addon; null for none
 * @param {object} [options.manifest] changes to package.json
 * @param {Record<string, Buffer | string | null>} [options.packages] addons of platforms that are installed beside it, by the names of the
 *   platforms; null for a package whose file is gone
 * @param {string} [options.version] of those packages
 * @returns {string} the folder that programs run in, with the copy in its node_modules
 */
export function copyOf(t, options = {}) {
  const { manifest = {}, packages = {} } = options;
  const folder = free.pop() ?? codeAlone();
  const modules = join(folder, 'node_modules');
  t.after(() => {
    rmSync(join(modules, 'millrace/addon'), { recursive: true });
    for (const name of Object.keys(packages)) {
      rmSync(dirname(packagedOf(folder, name)), { recursive: true });
    }
    free.push(folder);
  });
  const own = JSON.parse(readFileSync(join(root, 'packages/millrace/package.json'), 'utf8'));
  writeFileSync(join(modules, 'millrace/package.json'), JSON.stringify({ ...own, ...manifest }));
  const file = binaryOf(folder);
  mkdirSync(dirname(file), { recursive: true });
  const content = options.addon === undefined ? readFileSync(addon) : options.addon;
  if (content !== null) writeFileSync(file, content);
  for (const [name, text] of Object.entries(packages)) {
    const path = packagedOf(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    const { version = own.version } = options;
    const described = { name: `@millrace/${name}`, version };
    writeFileSync(join(path, '../package.json'), JSON.stringify(described));
    if (text !== null) writeFileSync(path, text);
  }
  return folder;
}

/** The copies that no test uses now, without what tests spoil: the code is a thousand files, which takes seconds to copy. */
const free = [];
process.once('exit', () => {
  for (const folder of free) rmSync(folder, { recursive: true });
});

function codeAlone() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-copy-'));
  copyCode(join(folder, 'node_modules'));
  return folder;
}

/** Where the addon of a copy is. */
export const binaryOf = (folder) =>
  join(folder, 'node_modules/millrace/addon/build/Release/millrace.node');

/** Path of the addon of a platform's package, beside a copy. */
export const packagedOf = (folder, name) =>
  join(folder, 'node_modules/@millrace', name, 'millrace.node');

/** Prints what a program that imports millrace sees. */
const ask = `
  import('millrace').then(
    ({ native, nativeError }) => console.log(JSON.stringify({ native, nativeError })),
    ({ name, code, message }) => console.log(JSON.stringify({ name, code, message })),
  );
`;

/**
 * Runs a program in a process of its own.
 *
 * @param {string} folder
 * @param {object} [options]
 * @param {string} [options.setting] MILLRACE_NATIVE
 * @param {string} [options.prebuild] MILLRACE_PREBUILD
 * @param {string} [options.program] in place of one that prints what it sees of millrace, as JSON
 * @param {string[]} [options.flags] for Node.js
 * @returns {Promise<object>} what it printed; rejects when it is ended by a signal or prints anything else
 */
export function run(folder, { setting, prebuild, program = ask, flags = [] } = {}) {
  const { MILLRACE_NATIVE, MILLRACE_PREBUILD, NODE_OPTIONS, ...env } = process.env;
  if (setting !== undefined) env.MILLRACE_NATIVE = setting;
  if (prebuild !== undefined) env.MILLRACE_PREBUILD = prebuild;
  return new Promise((resolve, reject) => {
    const args = [...flags, '-e', program];
    execFile(process.execPath, args, { cwd: folder, env, timeout: 300_000 }, (error, out, err) => {
      if (error) return reject(error);
      if (err !== '') return reject(new Error(`it printed ${err}`));
      resolve(JSON.parse(out));
    });
  });
}
