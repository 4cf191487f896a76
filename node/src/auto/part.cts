import type { FeatureState } from './types.cjs';

/** What a feature is made of, loaded when it is first needed. */
export interface Part {
  /** Of a part that is on. */
  readonly state: Exclude<FeatureState, 'off'>;
  readonly why: string | null;
  /** Replaces what it has to. What it needs of Millrace it loads later; the promise is for who wants to wait for that. */
  on(): Promise<unknown> | undefined;
  off(): void;
}
