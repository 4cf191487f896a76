import { spawnSync } from 'node:child_process';
import { Failure } from './failure.js';
import { goCommand, goEnvironment } from './go.js';

/**
 * The commands that the set-up needs: how to ask for the version, the oldest one that works, and
 * what to install. Node itself is checked by scripts/node before any of these files is read.
 */
const tools = {
  npm: {
    name: 'npm',
    ask: ['npm', '--version'],
    oldest: '9',
    install: 'install it from https://nodejs.org/en/download, where it comes with Node.js',
  },
  git: { name: 'git', ask: ['git', '--version'], oldest: '2.20', install: apt('git') },
  make: { name: 'GNU make', ask: ['make', '--version'], oldest: '4', install: apt('make') },
  python3: {
    name: 'Python (for node-gyp)',
    ask: ['python3', '--version'],
    oldest: '3.8',
    install: apt('python3'),
  },
  cmake: { name: 'CMake', ask: ['cmake', '--version'], oldest: '3.21', install: apt('cmake') },
  go: {
    name: 'Go',
    ask: [goCommand() ?? 'go', 'version'],
    env: goEnvironment,
    oldest: '1.25',
    install:
      'unpack it from https://go.dev/dl into /usr/local/go, or put its bin folder on the PATH',
  },
};

function apt(packages) {
  return `install it with: apt-get install ${packages}`;
}

/**
 * Checks that each tool is there and recent enough.
 *
 * @param {string[]} names of tools; `cc` stands for a C compiler
 * @returns {string} the versions found, for the step's line
 * @throws {Failure} one sentence that says what to install
 */
export function checkTools(names) {
  return [`Node.js ${process.versions.node}`, ...names.map(check)].join(', ');
}

function check(name) {
  if (name === 'cc') return checkCompiler();
  const { name: title, ask, env, oldest, install } = tools[name];
  const { stdout } = spawnSync(ask[0], ask.slice(1), { env: env?.(), encoding: 'utf8' });
  const found = /\d+(\.\d+)*/.exec(stdout ?? '')?.[0];
  if (!found || olderThan(found, oldest)) {
    const instead = found ? ` (found ${found})` : '';
    throw new Failure(`Millrace needs ${title} ${oldest} or newer${instead}; ${install}`);
  }
  return `${title} ${found}`;
}

/** A compiler alone is not enough: the C library's headers come in a package of their own. */
function checkCompiler() {
  const compiler = process.env.CC || 'cc';
  const { status } = spawnSync(compiler, ['-std=c11', '-fsyntax-only', '-x', 'c', '-'], {
    input: '#include <pthread.h>\n#include <stdatomic.h>\n',
  });
  if (status !== 0) {
    throw new Failure(`Millrace needs a C11 compiler (${compiler}); ${apt('build-essential')}`);
  }
  const { stdout } = spawnSync(compiler, ['-dumpfullversion', '-dumpversion'], {
    encoding: 'utf8',
  });
  return `${compiler} ${stdout.trim().split('\n')[0]}`;
}

function olderThan(found, oldest) {
  const [a, b] = [found, oldest].map((version) => version.split('.').map(Number));
  for (let i = 0; i < b.length; i++) {
    if ((a[i] ?? 0) !== b[i]) return (a[i] ?? 0) < b[i];
  }
  return false;
}
