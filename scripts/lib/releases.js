import { Failure } from './failure.js';
import { npmBinary } from './npm-binary.js';
import { skip } from './skip.js';
import { suite } from './suite.js';

/** The npm package that holds the binary of Node.js for this machine. */
const name = `node-${process.platform}-${process.arch}`;

/**
 * A suite that runs on another release of Node.js, the newest one of its line that npm has.
 *
 * @param {string} release a major version, or `latest`
 * @param {Omit<Parameters<typeof suite>[0], 'title' | 'node'> & { path: string }} options `path` for the title: the one
 *   that is tested
 * @returns {import('./steps.js').Step}
 */
export function suiteOn(release, { path, ...options }) {
  const title = `Node.js ${release}, ${path}`;
  return {
    title,
    run: async (quiet) => {
      const what = { name, tag: release, folder: `node-${release}`, path: 'bin/node' };
      const node = await npmBinary(what, quiet);
      if (!node) return skip(`npm could not install ${name}@${release}`);
      if (release !== 'latest' && !node.version.startsWith(`v${release}.`)) {
        throw new Failure(`${name}@${release} is Node.js ${node.version}`);
      }
      const result = await suite({ ...options, title, node: node.path }).run(quiet);
      return { ...result, note: `${node.version}: ${result.note}` };
    },
  };
}
