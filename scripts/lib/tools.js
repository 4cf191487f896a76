/** The tools that the set-up needs, the oldest versions that work, and what to install. scripts/node checks Node.js itself. */
import { spawnSync } from 'node:child_process';
import { Failure } from './failure.js';
import { goEnvironment } from './go.js';

const apt = (name) => `install it with: apt-get install ${name}`;
const CC = process.env.CC || 'cc';

/** A compiler alone is not enough: the headers of the C library come in a package of their own. */
const PROGRAM = '#include <pthread.h>\n#include <stdatomic.h>\n';

const tools = {
  npm: {
    name: 'npm',
    oldest: '9',
    install: 'install it from https://nodejs.org/en/download, where it comes with Node.js',
  },
  git: { name: 'git', oldest: '2.20', install: apt('git') },
  make: { name: 'GNU make', oldest: '4', install: apt('make') },
  python3: { name: 'Python (for node-gyp)', oldest: '3.8', install: apt('python3') },
  cmake: { name: 'CMake', oldest: '3.21', install: apt('cmake') },
  cc: {
    name: `a C11 compiler (${CC})`,
    ask: [CC, '-std=c11', '-fsyntax-only', '-x', 'c', '-'],
    install: apt('build-essential'),
  },
  go: {
    name: 'Go',
    ask: ['go', 'version'],
    oldest: '1.25',
    install:
      'unpack it from https://go.dev/dl into /usr/local/go, or put its bin folder on the PATH',
  },
};

/**
 * The step that looks whether each tool is there and recent enough.
 *
 * @param {...(keyof typeof tools)} names besides npm
 * @returns {import('./steps.js').Step} it fails with one sentence that says what to install
 */
export const checkTools = (...names) => ({
  title: 'tools',
  required: true,
  run: async () =>
    [`Node.js ${process.versions.node}`, ...['npm', ...new Set(names)].map(check)].join(', '),
});

function check(key) {
  const { name, ask: [command, ...args] = [key, '--version'], oldest, install } = tools[key];
  const options = { env: goEnvironment(), input: PROGRAM, encoding: 'utf8' };
  const { status, stdout } = spawnSync(command, args, options);
  const [found = ''] = /\d+(\.\d+)*/.exec(stdout ?? '') ?? [];
  const isOld = oldest && found.localeCompare(oldest, 'en', { numeric: true }) < 0;
  if (status === 0 && !isOld) return `${name} ${found}`.trim();
  const wanted = oldest ? `${name} ${oldest} or newer` : name;
  throw new Failure(`Millrace needs ${wanted}${found && ` (found ${found})`}; ${install}`);
}
