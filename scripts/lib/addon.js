/** Builds the addon of millrace against the headers that came with the running Node.js. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { environment } from '../../packages/millrace/addon/gyp.cjs';
import { files } from './files.js';
import { projectCache, read, root } from './paths.js';
import { prebuilds } from './platform-package.js';
import { Skip } from './steps.js';
import { suite } from './suite.js';

const folder = join(root, 'packages/millrace/addon');
const gyp = join(root, 'node_modules/node-gyp/bin/node-gyp.js');
const flags = '-fsanitize=address,undefined -fno-sanitize-recover=all';

/** Runs node-gyp in the folder of a package; it compiles only changed files. */
const build = (cwd, quiet, env = {}) =>
  quiet(process.execPath, [gyp, 'configure', 'build', '--jobs', '2'], {
    cwd,
    env: { ...environment(), ...env },
  });

/** Returns the folder of this Node.js's headers; downloads them unless they came with it. */
export async function nodeHeaders(quiet) {
  const { npm_config_nodedir: beside } = environment();
  if (beside) return join(beside, 'include/node');
  const cache = join(projectCache, 'node-gyp');
  await quiet(process.execPath, [gyp, 'install', '--ensure', '--devdir', cache]);
  return join(cache, process.versions.node, 'include/node');
}

/** Builds the addon at the path where the package looks for it. */
export const addon = {
  title: 'build of the addon',
  required: true,
  run: async (quiet) => {
    await build(folder, quiet);
    const { npm_config_nodedir: headers } = environment();
    return headers ? `with the headers in ${headers}` : 'with headers from nodejs.org';
  },
};

/** Returns the folder of an addon made by `make prebuilds` for this machine since the last change of the sources, or undefined. */
function prebuilt() {
  const { glibcVersionRuntime } = process.report.getReport().header;
  const libc = { linux: glibcVersionRuntime ? '-gnu' : '-musl' }[process.platform] ?? '';
  const place = join(prebuilds, `${process.platform}-${process.arch}${libc}`);
  const modifiedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = ['c/include', 'c/src', 'packages/millrace/addon'].flatMap(files);
  const newest = Math.max(...sources.map((path) => modifiedMs(join(root, path))));
  if (modifiedMs(join(place, 'millrace.node')) < newest) return undefined;
  const { version } = JSON.parse(read('packages/millrace/package.json'));
  const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  return manifest.version === version ? place : undefined;
}

/** Returns the step that provides the addon, and its tools: a copy from `make prebuilds`, or a build. */
export function addonPart() {
  const place = prebuilt();
  if (place === undefined) return { tools: ['make', 'cc', 'python3'], step: addon };
  const run = async () => {
    const release = join(folder, 'build/Release');
    mkdirSync(release, { recursive: true });
    copyFileSync(join(place, 'millrace.node'), join(release, 'millrace.node'));
    return `taken from ${relative(root, place)}`;
  };
  return { tools: [], step: { ...addon, title: 'addon', run } };
}

/** Returns a suite with the addon rebuilt with ASan and UBSan. Node.js itself is not rebuilt, and its own leaks are ignored. */
export const sanitizedSuite = (title, folders, options) => ({
  title,
  folders,
  run: async (quiet) => {
    const library = execFileSync('cc', ['-print-file-name=libasan.so'], { encoding: 'utf8' });
    if (!library.startsWith('/')) throw new Skip('the C compiler has no libasan');
    // The same sources in another folder, as node-gyp builds beside them.
    const copy = join(projectCache, 'addon-asan');
    const place = join(copy, 'packages/millrace');
    rmSync(copy, { recursive: true, force: true });
    mkdirSync(join(place, 'addon'), { recursive: true });
    symlinkSync(join(root, 'c'), join(copy, 'c'));
    symlinkSync(join(folder, '../package.json'), join(place, 'package.json'));
    for (const name of ['binding.gyp', 'include', 'sources.cjs', 'src']) {
      symlinkSync(join(folder, name), join(place, 'addon', name));
    }
    await build(join(place, 'addon'), quiet, { CFLAGS: `-g ${flags}`, LDFLAGS: flags });
    const env = {
      ...options.env,
      MILLRACE_PREBUILD: place,
      LD_PRELOAD: library.trim(),
      ASAN_OPTIONS: 'detect_leaks=0',
    };
    // Sanitized code takes twice the time.
    return suite(title, folders, { ...options, env, extraSeconds: 600 }).run(quiet);
  },
});
