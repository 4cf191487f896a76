import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { projectCache } from './paths.js';
import { skip } from './skip.js';
import { suite } from './suite.js';

/** The npm package that holds the binary of Node.js for this machine, and nothing that is run at installation. */
const name = `node-${process.platform}-${process.arch}`;

/**
 * A suite that runs on another release of Node.js, the newest one of its line that npm has.
 *
 * @param {string} release a major version, or `latest`
 * @param {Omit<Parameters<typeof suite>[0], 'title' | 'node'>} options
 * @returns {import('./steps.js').Step}
 */
export function suiteOn(release, options) {
  const title = `millrace on Node.js ${release}`;
  return {
    title,
    run: async (quiet) => {
      const folder = join(projectCache, `node-${release}`);
      const node = join(folder, 'node_modules', name, 'bin/node');
      const args = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
      // Without a network, what an earlier run has installed is as good.
      await quiet('npm', ['install', '--prefix', folder, ...args, `${name}@${release}`]).catch(
        () => {},
      );
      const version = versionOf(node);
      if (!version) return skip(`npm could not install ${name}@${release}`);
      if (release !== 'latest' && !version.startsWith(`v${release}.`)) {
        throw new Failure(`${name}@${release} is Node.js ${version}`);
      }
      const result = await suite({ ...options, title, node }).run(quiet);
      return { ...result, note: `${version}: ${result.note}` };
    },
  };
}

function versionOf(node) {
  try {
    return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}
