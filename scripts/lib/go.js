/** The Go command, and the steps of Go modules. */
import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { counted, junit } from './counts.js';
import { Failure } from './failure.js';
import { files } from './files.js';
import { read, root } from './paths.js';
import { which } from './which.js';

/** The folders of the modules. None of them sees the packages of another one that is inside it. */
const modules = ['go', 'go/goja', 'bench/go'];

/** Programs in Go, which `go run` compiles once. */
const GOTESTSUM = 'gotest.tools/gotestsum@v1.13.0';
const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

/** The path of the Go command; it is looked for on the PATH, and where Go's own instructions put it. */
export const goCommand = () => which('go', ['/usr/local/go/bin']);

/**
 * The user's environment with what Go is to do here: fetch no other release of itself unless GOTOOLCHAIN asks for it, see no
 * go.work around the project, and not look up the commit that it builds. `go` is on its PATH.
 *
 * @param {{ race?: boolean }} [options] with the race detector, as the checks and the tests of Go compile: what they have
 *   compiled need not be compiled again
 */
export function goEnvironment({ race = false } = {}) {
  const command = goCommand();
  const env = { HOME: homedir(), GOTOOLCHAIN: 'local', ...process.env, GOWORK: 'off' };
  if (!command) return env;
  // It may have been set with `go env -w`.
  const flags = execFileSync(command, ['env', 'GOFLAGS'], { env, encoding: 'utf8' }).trim();
  return {
    ...env,
    PATH: [dirname(command), env.PATH].join(delimiter),
    GOFLAGS: `${flags} -buildvcs=false${race ? ' -race' : ''}`.trim(),
  };
}

/** Runs Go in a folder. The race detector is in C. */
const go = (quiet, folder, args, { env, ...options } = {}) =>
  quiet('go', args, {
    ...options,
    cwd: join(root, folder),
    env: { ...goEnvironment(), ...(args.includes('-race') && { CGO_ENABLED: '1' }), ...env },
  });

/** Fetches the modules that ours need. */
export const goPackages = {
  title: 'Go modules',
  run: async (quiet) => {
    for (const folder of modules) {
      await go(quiet, folder, ['mod', 'download']).catch(() => {
        const advice = 'set GOPROXY to a proxy for Go modules that can be reached from here';
        throw new Failure(`the modules that ${folder} needs could not be fetched; ${advice}`);
      });
    }
  },
};

/**
 * Looks at the format, at what `go vet` finds, and whether go.mod and go.sum are complete. It compiles with the race
 * detector, as the tests do: that is the longest part, and it is done once for both.
 *
 * @param {string[]} folders of modules
 * @returns {import('./steps.js').Step}
 */
export const goChecks = (folders) => ({
  title: `checks of ${folders.join(', ')}`,
  run: async (quiet) => {
    const env = goEnvironment();
    const wrong = execFileSync('gofmt', ['-l', ...folders], { cwd: root, env, encoding: 'utf8' });
    if (wrong) throw new Failure(`make format would change ${wrong.trim().replaceAll('\n', ', ')}`);
    for (const folder of folders) {
      await go(quiet, folder, ['mod', 'tidy', '-diff']);
      await go(quiet, folder, ['vet', '-race', './...']);
    }
  },
});

/**
 * A step that checks a module and its tests for other systems and processors. Of each it compiles Go's own packages first, once.
 *
 * @param {string} folder of the module
 * @param {string[]} platforms for instance `darwin/arm64`
 * @returns {import('./steps.js').Step}
 */
export const goPlatforms = (folder, platforms) => ({
  title: 'Go and its tests elsewhere',
  run: async (quiet) => {
    for (const platform of platforms) {
      const [GOOS, GOARCH] = platform.split('/');
      await go(quiet, folder, ['vet', './...'], { env: { GOOS, GOARCH, CGO_ENABLED: '0' } });
    }
    return platforms.join(', ');
  },
});

/**
 * A step that runs the tests of a module, each time in another order; Go's cache of results is not used.
 *
 * @param {string} title
 * @param {string} folder of the module
 * @param {object} [options]
 * @param {string[]} [options.args] of `go test`; default: with the race detector
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {number} [options.timeout] in seconds, for the tests of one package
 * @returns {import('./steps.js').Step & { folders: string[] }}
 */
export const goTests = (title, folder, { args = ['-race'], env, timeout = 600 } = {}) => ({
  title,
  folders: [folder],
  run: (quiet) =>
    counted((report) => {
      const sum = ['run', GOTESTSUM, '--format=pkgname-and-test-fails', `--junitfile=${report}`];
      // `go vet` is done by the checks.
      const test = ['-vet=off', '-count=1', '-shuffle=on', `-timeout=${timeout}s`, ...args];
      const options = { env, timeoutMs: (timeout + 480) * 1000 };
      return go(quiet, folder, [...sum, '--', ...test, './...'], options);
    }, junit),
});

/**
 * A step that runs every fuzz target in a folder. An input that fails is kept in testdata, and is a test from then on.
 *
 * @param {string} folder
 * @param {number} seconds for all targets together
 * @returns {import('./steps.js').Step}
 */
export const goFuzz = (folder, seconds) => ({
  title: 'fuzz of Go',
  run: async (quiet) => {
    const tests = files(folder).filter((path) => path.endsWith('_test.go'));
    const targets = tests.flatMap((path) =>
      [...read(path).matchAll(/^func (Fuzz\w*)\(/gm)].map(([, name]) => [name, dirname(path)]),
    );
    if (targets.length === 0) throw new Failure(`${folder} has no fuzz target`);
    const each = Math.ceil(seconds / targets.length);
    for (const [name, place] of targets) {
      const args = ['test', '-vet=off', '-run=^$', `-fuzz=^${name}$`, `-fuzztime=${each}s`, '.'];
      await go(quiet, place, args, { timeoutMs: (each + 300) * 1000 }).catch((error) => {
        if (!isTimeUp(error.log)) throw error;
      });
    }
    return `${targets.map(([name]) => name).join(', ')}: ${each} s each`;
  },
});

/**
 * Reports whether fuzzing failed with nothing but the end of its time: before Go 1.27 that happens on a busy machine
 * (https://go.dev/issue/75804). Go writes an input that fails into a file, and prints that.
 */
export const isTimeUp = (log) =>
  /^\s*context deadline exceeded$/m.test(log) && !/Failing input|panic:/.test(log);

/** Checks the workflows with actionlint: their form, their expressions, and the shell in them where shellcheck is there. */
export const workflows = {
  title: 'workflows',
  run: (quiet) => go(quiet, '.', ['run', ACTIONLINT, '-no-color']),
};
