/** The steps that install and build the applications of the lab's experiments that have packages of their own. */
import { join } from 'node:path';
import { packages } from './setup.js';
import { whenChanged } from './stamp.js';

const folder = 'bench/claims/auto/apps/installed';

/** The experiments that need them. */
export const namesOfApps = ['auto-graphql', 'auto-nextjs', 'auto-peer'];

const nextPage = {
  title: 'build of the Next.js page',
  required: true,
  run: async (quiet) => {
    const next = join(folder, 'next');
    const what = {
      name: 'next-page',
      inputs: [join(folder, 'package-lock.json'), next],
      outputs: [join(next, 'build/BUILD_ID')],
    };
    const build = () =>
      quiet(process.execPath, [join(folder, 'node_modules/next/dist/bin/next'), 'build', next], {
        env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
      });
    return (await whenChanged(what, build)) ? 'built' : 'unchanged';
  },
};

/** @type {import('./steps.js').Step[]} */
export const labApps = [packages(folder), nextPage];
