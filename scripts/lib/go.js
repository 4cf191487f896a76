/** The Go command, and the steps of Go modules. */
import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { counted } from './counts.js';
import { Failure } from './failure.js';
import { files } from './files.js';
import { goEvents } from './go-events.js';
import { read, root } from './paths.js';
import { which } from './which.js';

/** The folders of the modules. None of them sees the packages of another one that is inside it. */
export const goModules = ['go', 'go/goja', 'bench/go'];

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

/** Fetches the modules that ours need. */
export const goPackages = {
  title: 'Go modules',
  run: async (quiet) => {
    for (const folder of goModules) {
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
    const wrong = [];
    const read = (line) => {
      wrong.push(line);
      return `${line}\n`;
    };
    await quiet('gofmt', ['-l', ...folders], { env: goEnvironment(), read });
    if (wrong.length > 0) throw new Failure(`make format would change ${wrong.join(', ')}`);
    for (const folder of folders) {
      await go(quiet, folder, ['mod', 'tidy', '-diff']);
      await go(quiet, folder, ['vet', '-race', './...']);
    }
  },
});

/**
 * A step that compiles a module for other systems and processors. Of each it compiles Go's own packages first, once.
 *
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.folder of the module
 * @param {string[]} what.platforms for instance `darwin/arm64`
 * @param {'build' | 'vet'} [what.verb] `vet` looks at the tests as well
 * @returns {import('./steps.js').Step}
 */
export function goPlatforms({ title, folder, platforms, verb = 'build' }) {
  return {
    title,
    run: async (quiet) => {
      for (const platform of platforms) {
        const [GOOS, GOARCH] = platform.split('/');
        await go(quiet, folder, [verb, './...'], { env: { GOOS, GOARCH, CGO_ENABLED: '0' } });
      }
      return platforms.join(', ');
    },
  };
}

/**
 * A step that runs the tests of a module, each time in another order; Go's cache of results is not used.
 *
 * @param {object} tests
 * @param {string} tests.title
 * @param {string} tests.folder of the module
 * @param {boolean} [tests.race] with the race detector
 * @param {string} [tests.run] a pattern: only these tests
 * @param {Record<string, string>} [tests.env] added to the environment
 * @param {number} [tests.timeout] in seconds, for the tests of one package
 * @param {string[]} [tests.args] more arguments of `go test`
 * @returns {import('./steps.js').Step & { folder: string }}
 */
export function goTests({ title, folder, race = true, run, env, timeout = 120, args = [] }) {
  return {
    title,
    folder,
    run: async (quiet) => {
      const { counts, read } = goEvents();
      const all = [
        // `go vet` is done by the checks.
        ...['test', '-json', '-vet=off', '-count=1', '-shuffle=on', `-timeout=${timeout}s`],
        ...(race ? ['-race'] : []),
        ...(run ? [`-run=${run}`] : []),
        ...args,
        './...',
      ];
      const options = { env, read, timeoutMs: (timeout + 480) * 1000 };
      const ended = await go(quiet, folder, all, options).catch((error) => error);
      if (ended && counts.failed === 0) throw ended;
      return counted(counts);
    },
  };
}

/**
 * A step that runs every fuzz target in a folder. An input that fails is kept in testdata, and is a test from then on.
 *
 * @param {object} fuzz
 * @param {string} fuzz.folder
 * @param {number} fuzz.seconds for all targets together
 * @returns {import('./steps.js').Step}
 */
export function goFuzz({ folder, seconds }) {
  return {
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
        const lines = [];
        const read = (line) => {
          lines.push(line);
          return line;
        };
        const running = go(quiet, place, args, { timeoutMs: (each + 300) * 1000, read });
        await running.catch((error) => {
          if (!isTimeUp(lines)) throw error;
        });
      }
      return `${targets.map(([name]) => name).join(', ')}: ${each} s each`;
    },
  };
}

/**
 * Whether fuzzing failed with nothing but the end of its time: before Go 1.27 that happens on a busy machine
 * (https://go.dev/issue/75804). An input that fails is written into a file, and that is said.
 */
export const isTimeUp = (lines) =>
  lines.some((line) => line.trim() === 'context deadline exceeded') &&
  !lines.some((line) => /Failing input|panic:/.test(line));

/** Runs Go in a folder. */
function go(quiet, folder, args, { env, ...options } = {}) {
  // The race detector is in C.
  const race = args.includes('-race') && { CGO_ENABLED: '1' };
  const all = { ...goEnvironment(), ...race, ...env };
  return quiet('go', args, { ...options, cwd: join(root, folder), env: all });
}
