/**
 * Observe mode: measures what Millrace would bring an application, and changes nothing.
 *
 * @module observe
 */
export type { FunctionTime } from './attribute.js';
export type { FilesReport } from './files.js';
export { type FormatOptions, formatReport } from './format.js';
export type { FramesReport } from './frames.js';
export type { LoopReport } from './loop.js';
export { type Observation, observe } from './observe.js';
export type { ObserveOptions } from './options.js';
export type { ApplicationReport } from './process.js';
export type { Report } from './report.js';
export type { RequestsReport, RouteReport, ServerReport } from './requests.js';
export { type ObserveSettings, startObserving } from './start.js';
export type { ThreadpoolReport } from './threadpool.js';
export type { WritesReport } from './writes.js';
