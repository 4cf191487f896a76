/** The addon of millrace, built against the headers that came with the running Node.js. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../packages/millrace/addon/gyp.cjs';
import { projectCache, root } from './paths.js';
import { Skip } from './steps.js';
import { suite } from './suite.js';

const folder = join(root, 'packages/millrace');
const gyp = join(root, 'node_modules/node-gyp/bin/node-gyp.js');
const flags = '-fsanitize=address,undefined -fno-sanitize-recover=all';

/** Runs node-gyp, which compiles what is new, in the folder of a package. */
const build = (cwd, quiet, env = {}) =>
  quiet(process.execPath, [gyp, 'configure', 'build', '--jobs', '2'], {
    cwd,
    env: { ...environment(), ...env },
  });

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
    mkdirSync(place, { recursive: true });
    symlinkSync(join(root, 'c'), join(copy, 'c'));
    for (const name of ['binding.gyp', 'addon', 'package.json']) {
      symlinkSync(join(folder, name), join(place, name));
    }
    await build(place, quiet, { CFLAGS: `-g ${flags}`, LDFLAGS: flags });
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
