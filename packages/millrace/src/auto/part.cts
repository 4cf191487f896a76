import { isError } from '@millrace/base/realm';
import type { FeatureState } from './types.cjs';

/** What a feature is made of, loaded when it is first needed. */
export interface Part {
  /** True while the part is on. */
  readonly state: Exclude<FeatureState, 'off'>;
  readonly why: string | null;
  /** Replaces what it has to. What it needs of Millrace it loads later; the promise is for whoever wants to wait for that. */
  on(): Promise<unknown> | undefined;
  off(): void;
}

/**
 * Throws where loading a module would end the process: Node.js looks into `process.env` each time, and an application
 * may have deleted that.
 */
export function checkModules(): void {
  if (process.env === undefined) throw new Error('the application has deleted process.env');
}

/** What went wrong, worded for `why`. */
export function sentence(error: unknown): string {
  return isError(error) ? error.message : String(error);
}
