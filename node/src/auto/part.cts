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
