/**
 * A feature of auto, for those who look at it and switch it ({@link Feature}) and for those who make it ({@link Part}), and its
 * settings. A feature is made at the start, its part when there is something that it could act on. Whatever prevents a part from
 * acting is a sentence in `why`: it never throws at the application.
 */
import type { GuardOptions } from '@millrace/guard' with { 'resolution-mode': 'import' };
import type { MonitorOptions } from '@millrace/monitor' with { 'resolution-mode': 'import' };
import type { StallOptions } from '@millrace/monitor/stalls' with { 'resolution-mode': 'import' };
import type { CoalesceOptions, EnlargeOptions } from '../net/index.js' with {
  'resolution-mode': 'import',
};
import type { InstallOptions } from '../ws/index.js' with { 'resolution-mode': 'import' };

/**
 * Name of a feature. ws: fan-out of `millrace/ws`; fs: `millrace/fs`; dns: shared look-ups of equal names; reads:
 * `enlarge()`; net: `coalesce()`; guard: `@millrace/guard`; monitor: `@millrace/monitor`; stalls: `@millrace/monitor/stalls`.
 */
export type FeatureName = 'ws' | 'fs' | 'dns' | 'reads' | 'net' | 'guard' | 'monitor' | 'stalls';

/** State of a feature. waiting: switched on, but without anything to act on yet. */
export type FeatureState = 'off' | 'waiting' | 'active';

/** Feature of auto, to inspect and to switch. */
export interface Feature {
  readonly name: FeatureName;
  readonly state: FeatureState;
  /** Reason why it cannot act here, in one sentence; null if it can. */
  readonly why: string | null;
  /** Switches it on. Idempotent, like `off()`. Does not throw: `why` says what is in its way. */
  on(): void;
  /**
   * Switches it off and restores the functions that it replaced. Where other code has replaced them since, ours pass calls
   * on.
   */
  off(): void;
}

/** Implementation of a feature, loaded when it is first needed. */
export interface Part {
  /** True while the part is on. */
  readonly state: Exclude<FeatureState, 'off'>;
  readonly why: string | null;
  /** Replaces what it has to. What it needs of Millrace it loads later; the promise is for whoever wants to wait for that. */
  on(): Promise<unknown> | undefined;
  off(): void;
}

/** Features of this thread, by name. */
export type Features = Readonly<Record<FeatureName, Feature>>;

/** Address and port of the dashboard. */
export interface DashboardSettings {
  readonly host: string;
  /** Port: a number from 0 to 65535, default 7117; 0: any free one. */
  readonly port: number;
  readonly token: string | null;
}

/** Lifetimes of looked-up names. */
export interface DnsSettings {
  /** Time in ms for which a result is kept: 0 to 86,400,000, default 0: none is kept, only look-ups in flight are shared. */
  readonly ttl?: number;
  /** Further time in ms for which it is used when no name server answers: 0 to 86,400,000, default 60,000. Only with `ttl`. */
  readonly staleIfError?: number;
}

/** Options of a guard that a file can hold: those that are not functions. */
export type GuardSettings = Omit<GuardOptions, 'classify' | 'route' | 'cohort' | 'onShed'>;

/** Settings from the environment and millrace.config.json. `true` stands for a feature with its default options. */
export interface Settings {
  /** act: run the features that are on; observe: only measure; off: nothing. */
  readonly mode: 'act' | 'observe' | 'off';
  readonly ws: boolean | InstallOptions;
  readonly fs: boolean;
  readonly dns: boolean | DnsSettings;
  readonly reads: boolean | EnlargeOptions;
  readonly net: boolean | CoalesceOptions;
  readonly guard: boolean | GuardSettings;
  readonly monitor: boolean | Omit<MonitorOptions, 'tasks'>;
  readonly stalls: boolean | StallOptions;
  readonly dashboard: false | DashboardSettings;
  readonly metrics: false | 'opentelemetry';
  /** Path of the file; null: none. */
  readonly file: string | null;
}
