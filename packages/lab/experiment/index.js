/**
 * The lab as a library: experiments as files or objects, their runs, and what these come to.
 *
 *     import { Cleanup, loadExperiment, runExperiment } from '@millrace/lab/experiment';
 *
 *     const experiment = await loadExperiment('./cache.js');
 *     const cleanup = new Cleanup();
 *     cleanup.watch();
 *     const { figures, claims } = await runExperiment(experiment, { size: 'quick', seed: 1, cleanup });
 */
export { LabError } from '../load/errors.js';
export { Cleanup } from '../run/cleanup.js';
export { LEAST_ROUNDS } from './detectable.js';
export { experimentLines, experimentNames, loadExperiment, planLine } from './files.js';
export { readExperiment } from './format.js';
export { gather } from './gather.js';
export { hostRecord } from './host.js';
export { judge } from './judge.js';
export { checkOutlets, makeFolder } from './outlets.js';
export { MOST_SEED, randomFrom, randomSeed, shuffled } from './random.js';
export { jsonLines, keep } from './results.js';
export { runExperiment } from './run.js';
export { watchSignals } from './signals.js';
export { bySize, isMeasuredAt, LARGEST, SIZES } from './sizes.js';
export { leastSecondsOf, stepsOf } from './steps.js';
