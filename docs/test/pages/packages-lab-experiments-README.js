import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readExperiment } from '@millrace/lab/experiment';
import { root } from '../../../scripts/lib/paths.js';

/** The snippet is a file of packages/lab/experiments. */
export const setup = () => symlink(join(root, 'packages/lab/experiment'), '../experiment');

export const checks = {
  'a-new-one': ({ isOn, ...file }) => readExperiment(file, 'cache'),
};
