/**
 * A feature of auto, for those who look at it and switch it ({@link Feature}) and for those who make it ({@link Part}), and its
 * settings. A feature is made at the start, its part when there is something that it could act on. Whatever prevents a part from
 * acting is a sentence in `why`: it never throws at the application.
 */
import type { GuardOptions } from '@millrace/guard' with { 'resolution-mode': 'import' };
import type { MonitorOptions } from '@millrace/monitor' with { 'resolution-mode': 'import' };
import type { CoalesceOptions, EnlargeOptions } from '../net/index.js' with {
  'resolution-mode': 'import',
};
import type { InstallOptions } from '../ws/index.js' with { 'resolution-mode': 'import' };

/**
 * ws: fan-out of `millrace/ws`; fs: `millrace/fs`; dns: equal look-ups of names together; reads: `enlarge()`; net: `coalesce()`; guard:
 * `@millrace/guard`; monitor: `@millrace/monitor`.
 */
export type FeatureName = 'ws' | 'fs' | 'dns' | 'reads' | 'net' | 'guard' | 'monitor';

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

/** What a feature is made of, loaded when it is first needed. */
export interface Part {
  /** True while the part is on. */
  readonly state: Exclude<FeatureState, 'off'>;
  readonly why: string | null;
  /** Replaces what it has to. What it needs of Millrace it loads later; the promise is for whoever wants to wait for that. */
  on(): Promise<unknown> | undefined;
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

/** Times for which answers to look-ups of names count. */
export interface DnsSettings {
  /** Time in ms for which an answer is kept: 0 to 86,400,000, default 0: no answer is kept, only look-ups that are under way are shared. */
  readonly ttl?: number;
  /** Time in ms for which it counts longer, when no name server answers: 0 to 86,400,000, default 60,000. Only with `ttl`. */
  readonly staleIfError?: number;
}

/** Options of a guard that a file can hold: those that are not functions. */
export type GuardSettings = Omit<GuardOptions, 'classify' | 'route' | 'onShed'>;

/** What the environment and millrace.config.json amount to. `true` stands for a feature with its default options. */
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
  readonly dashboard: false | DashboardSettings;
  readonly metrics: false | 'opentelemetry';
  /** The file it was read from; null: none. */
  readonly file: string | null;
}
