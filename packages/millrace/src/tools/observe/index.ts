/**
 * Observe mode: measures how much Millrace would save in an application, and changes nothing.
 *
 * @module observe
 */
export type { Place } from './callers.js';
export type { DeadEmit } from './emits.js';
export type { FilesReport } from './files.js';
export { type FormatOptions, formatReport } from './format.js';
export type { FramesReport } from './frames.js';
export type { LookupsReport } from './lookups.js';
export type { LoopReport } from './loop.js';
export {
  type Observation,
  type ObserveOptions,
  type ObserveSettings,
  observe,
  startObserving,
} from './observe.js';
export type { FunctionTime } from './profile.js';
export type { QueriesReport, StatementReport } from './queries.js';
export type { ApplicationReport, Report } from './report.js';
export type { RequestsReport, RouteReport, ServerReport } from './requests.js';
export type { Driver } from './statements.js';
export type { ThreadpoolReport } from './threadpool.js';
export type { WritesReport } from './writes.js';
