import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from './counts.js';
import { npmBinary } from './npm-binary.js';
import { projectCache } from './paths.js';
import { skip } from './skip.js';

const { platform, arch } = process;
const processor = { x64: 'x64', arm64: 'aarch64' }[arch] ?? arch;

/** The npm packages that hold the binaries for this machine, and how a program is run with them. */
const runtimes = {
  Bun: { name: `@oven/bun-${platform}-${processor}`, path: 'bin/bun', args: ['run'] },
  Deno: {
    name: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
    path: 'deno',
    args: ['run', '--allow-all', '--quiet', '--no-lock'],
  },
};

/**
 * A step that runs a program on another runtime; the program leaves its tally where its argument says.
 *
 * @param {'Bun' | 'Deno'} runtime
 * @param {string} program relative to the root
 * @returns {import('./steps.js').Step}
 */
export function programOn(runtime, program) {
  const { name, path, args } = runtimes[runtime];
  const folder = runtime.toLowerCase();
  return {
    title: `smoke test on ${runtime}`,
    run: async (quiet) => {
      const binary = await npmBinary({ name, tag: 'latest', folder, path }, quiet);
      if (!binary) return skip(`npm could not install ${name}`);
      const tally = join(projectCache, `tally-${folder}-${process.pid}.json`);
      // Nothing of it may be left outside the project.
      const env = { ...process.env, DENO_DIR: join(projectCache, folder, 'cache') };
      const ended = await quiet(binary.path, [...args, program, tally], {
        env,
        timeoutMs: 300_000,
      }).then(
        () => null,
        (error) => error,
      );
      try {
        return counted(JSON.parse(readFileSync(tally, 'utf8')));
      } catch (error) {
        throw ended ?? error;
      } finally {
        rmSync(tally, { force: true });
      }
    },
  };
}
