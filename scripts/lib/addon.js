/** The addon of millrace, built against the headers that came with the running Node.js. */
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

/** Runs node-gyp, which compiles what is new, in the folder of a package. */
const build = (cwd, quiet, env = {}) =>
  quiet(process.execPath, [gyp, 'configure', 'build', '--jobs', '2'], {
    cwd,
    env: { ...environment(), ...env },
  });

/** The folder of the headers of this Node.js; they are fetched unless they came with it. */
export async function nodeHeaders(quiet) {
  const { npm_config_nodedir: beside } = environment();
  if (beside) return join(beside, 'include/node');
  const cache = join(projectCache, 'node-gyp');
  await quiet(process.execPath, [gyp, 'install', '--ensure', '--devdir', cache]);
  return join(cache, process.versions.node, 'include/node');
}

/** Builds it where the package looks for it. */
export const addon = {
  title: 'build of the addon',
  required: true,
  run: async (quiet) => {
    await build(folder, quiet);
    const { npm_config_nodedir: headers } = environment();
    return headers ? `with the headers in ${headers}` : 'with headers from nodejs.org';
  },
};

/** The folder of an addon that `make prebuilds` has made for this machine since the sources changed; undefined without one. */
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

/** How the addon gets where the package looks for it: it is taken from `make prebuilds`, or compiled with these tools. */
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

/** A suite with the addon built once more, with ASan and UBSan. Node.js itself is not: its own leaks are not looked at. */
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
