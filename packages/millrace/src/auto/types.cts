import type { GuardOptions } from '@millrace/guard' with { 'resolution-mode': 'import' };
import type { MonitorOptions } from '@millrace/monitor' with { 'resolution-mode': 'import' };
import type { EnlargeOptions } from '../net/index.js' with { 'resolution-mode': 'import' };
import type { CoalesceOptions } from '../net/index.js' with { 'resolution-mode': 'import' };
import type { InstallOptions } from '../ws/index.js' with { 'resolution-mode': 'import' };

/**
 * ws: fan-out of `millrace/ws`; fs: `millrace/fs`; reads: `enlarge()`; net: `coalesce()`; guard: `@millrace/guard`; monitor:
 * `@millrace/monitor`.
 */
export type FeatureName = 'ws' | 'fs' | 'reads' | 'net' | 'guard' | 'monitor';

/** waiting: switched on, but nothing has happened yet that it could act on. */
export type FeatureState = 'off' | 'waiting' | 'active';

/** A thing that auto does, to look at and to switch. */
export interface Feature {
  readonly name: FeatureName;
  readonly state: FeatureState;
  /** Why it cannot act here, in one sentence; null if it can. */
  readonly why: string | null;
  /** Idempotent, like `off()`. Does not throw: what is in its way is in `why`. */
  on(): void;
  /** Ends what it does and puts back what it has replaced. Where somebody has replaced that since, ours passes calls on. */
  off(): void;
}

/** All features of this thread, by name. */
export type Features = Readonly<Record<FeatureName, Feature>>;

/** Where the dashboard is served. */
export interface DashboardSettings {
  readonly host: string;
  /** Port: a number from 0 to 65535, default 7117; 0: any free one. */
  readonly port: number;
  readonly token: string | null;
}

/** Options of a guard that a file can hold: those that are not functions. */
export type GuardSettings = Omit<GuardOptions, 'classify' | 'route' | 'onShed'>;

/** What the environment and millrace.config.json amount to. `true` stands for a feature with its default options. */
export interface Settings {
  /** act: run the features that are on; observe: only measure; off: nothing. */
  readonly mode: 'act' | 'observe' | 'off';
  readonly ws: boolean | InstallOptions;
  readonly fs: boolean;
  readonly reads: boolean | EnlargeOptions;
  readonly net: boolean | CoalesceOptions;
  readonly guard: boolean | GuardSettings;
  readonly monitor: boolean | Omit<MonitorOptions, 'tasks'>;
  readonly dashboard: false | DashboardSettings;
  readonly metrics: false | 'opentelemetry';
  /** The file it was read from; null: none. */
  readonly file: string | null;
}
