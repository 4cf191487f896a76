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
export { LEAST_ROUNDS } from './figure.js';
export { experimentLines, experimentNames, loadExperiment, planLine } from './files.js';
export { readExperiment } from './format.js';
export { gather, runExperiment } from './gather.js';
export { hostRecord } from './host.js';
export { judge } from './judge.js';
export { bySize, isMeasuredAt, LARGEST, leastSecondsOf, SIZES, stepsOf } from './plan.js';
export { checkOutlets, jsonLines, keep, makeFolder } from './results.js';
