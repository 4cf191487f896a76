import { goEnvironment } from './go.js';
import { read, root } from './paths.js';

/** The step that has actionlint read the workflows: their form, their expressions, and the shell in them where shellcheck is there. */
export const workflows = {
  title: 'workflows',
  run: (quiet) =>
    quiet('go', ['run', 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12', '-no-color'], {
      cwd: root,
      env: goEnvironment(),
    }),
};

/**
 * The actions of others that workflows use by a name which its owner can move: anything but a full commit, with the release
 * beside it as a comment.
 *
 * @param {string[]} workflows relative to the root
 * @returns {string[]} one line for each
 */
export function movableActions(workflows) {
  return workflows.flatMap((path) =>
    [...read(path).matchAll(/^\s*(?:- )?uses:\s*(.+)$/gm)]
      .map(([, used]) => used)
      .filter(
        (used) => !/^\.\//.test(used) && !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used),
      )
      .map((used) => `${path} uses ${used}; name a commit, and the release in a comment`),
  );
}
