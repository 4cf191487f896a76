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
export { experimentNames, loadExperiment } from './files.js';
export { readExperiment } from './format.js';
export { gather } from './gather.js';
export { judge } from './judge.js';
export * as metrics from './metrics.js';
export { jsonLines, keep } from './results.js';
export { runExperiment } from './run.js';
