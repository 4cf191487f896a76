/** The addon of millrace, built against the headers that came with the running Node.js. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../packages/millrace/addon/gyp.cjs';
import { projectCache, root } from './paths.js';
import { skip } from './skip.js';
import { whenChanged } from './stamp.js';
import { suite } from './suite.js';

const inputs = [
  'packages/millrace/package.json',
  'packages/millrace/binding.gyp',
  'packages/millrace/addon/gyp.cjs',
  'packages/millrace/addon/sources.cjs',
  'packages/millrace/addon/src',
  'packages/millrace/addon/include',
  'c/src',
  'c/include',
];
const gyp = join(root, 'node_modules/node-gyp/bin/node-gyp.js');

/** Builds it where the package looks for it. */
export const addon = {
  title: 'build of the addon',
  required: true,
  run: async (quiet) => {
    const outputs = ['packages/millrace/build/Release/millrace.node'];
    const work = () => build(join(root, 'packages/millrace'), quiet);
    if (!(await whenChanged({ name: 'addon', inputs, outputs }, work))) return 'unchanged';
    const { npm_config_nodedir: headers } = environment();
    return headers ? `built with the headers in ${headers}` : 'built with headers from nodejs.org';
  },
};

function build(folder, quiet, env = {}) {
  const args = [gyp, 'configure', 'build', '--jobs', '2'];
  return quiet(process.execPath, args, { cwd: folder, env: { ...environment(), ...env } });
}

const sanitize = '-fsanitize=address,undefined -fno-sanitize-recover=all';

/** A suite with the addon built once more, with ASan and UBSan. Node.js itself is not: its own leaks are not looked at. */
export function sanitizedSuite({ title, env, ...options }) {
  const folder = join(projectCache, 'addon-asan/packages/millrace');
  return {
    title,
    folders: options.folders,
    run: async (quiet) => {
      const library = execFileSync('cc', ['-print-file-name=libasan.so'], { encoding: 'utf8' });
      if (!library.startsWith('/')) return skip('the C compiler has no libasan');
      mirror(folder);
      await build(folder, quiet, { CFLAGS: `-g ${sanitize}`, LDFLAGS: sanitize });
      return suite({
        ...options,
        title,
        env: {
          ...env,
          MILLRACE_NATIVE: '1',
          MILLRACE_PREBUILD: folder,
          LD_PRELOAD: library.trim(),
          ASAN_OPTIONS: 'detect_leaks=0',
        },
      }).run(quiet);
    },
  };
}

/** The same sources in a folder of its own, as node-gyp builds beside them. */
function mirror(folder) {
  rmSync(join(folder, '../..'), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ['binding.gyp', 'addon', 'package.json']) {
    symlinkSync(join(root, 'packages/millrace', name), join(folder, name));
  }
  symlinkSync(join(root, 'c'), join(folder, '../../c'));
}
