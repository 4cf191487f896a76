/**
 * Entry of `node --import millrace/auto` and `node --require millrace/auto`. It is CommonJS, so that both are the same
 * module, and loads only the few files beside it; the modules of a feature are loaded when there is something that it could
 * act on.
 */
import { builtin } from '@millrace/base/realm';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { FeatureName, Features, Settings } from './feature.cjs';
import { defaults, makeFeatures, usualFile } from './features.cjs';

const { subscribe } = builtin('node:diagnostics_channel');
const { existsSync, writeSync } = builtin('node:fs');

export type {
  DashboardSettings,
  DnsSettings,
  Feature,
  FeatureName,
  FeatureState,
  Features,
  GuardSettings,
  Settings,
} from './feature.cjs';

interface Started {
  readonly settings: Settings;
  readonly features: Features;
  /** Settles when everything that has to be there before the application begins is there; undefined: nothing is missing. */
  readonly ready: Promise<unknown> | undefined;
}

/** Key by which another copy of this package in the same thread finds that it is not the first. */
const key = Symbol.for('millrace.auto');
/** Longest delay of the application's start, in ms. */
const longestWaitMs = 1000;

function start(): Started {
  const { env } = process;
  const settings = settingsOrExit(env);
  const features = makeFeatures(settings);
  if (settings.mode === 'off') return { settings, features, ready: undefined };
  subscribe('tracing:net.server.listen:asyncEnd', (message) => {
    // Without it Node.js would not load anything any more.
    if (process.env === undefined) return;
    const { noteServer } = require('./sockets.cjs') as typeof import('./sockets.cjs');
    noteServer((message as { server: import('node:net').Server }).server);
  });
  const awaited: (Promise<unknown> | undefined)[] = [];
  if (settings.mode === 'act') {
    for (const name of Object.keys(features) as FeatureName[]) {
      if (settings[name] === false) continue;
      features[name].on();
      awaited.push(features[name].ready);
    }
  }
  const feeds = isFed(env);
  if (settings.mode === 'observe' || settings.dashboard || settings.metrics || feeds) {
    const { startCompanions } = require('./companions.cjs') as typeof import('./companions.cjs');
    awaited.push(startCompanions(settings, features, env, feeds));
  }
  const isReady = awaited.every((each) => each === undefined);
  return { settings, features, ready: isReady ? undefined : atMost(Promise.all(awaited)) };
}

function settingsOrExit(env: NodeJS.ProcessEnv): Settings {
  const { MILLRACE, MILLRACE_CONFIG, MILLRACE_DASHBOARD, MILLRACE_PROBES } = env;
  // As for most programs: there is nothing to read, and each file that is loaded takes about 0.5 ms.
  const isSet = MILLRACE || MILLRACE_CONFIG || MILLRACE_DASHBOARD || MILLRACE_PROBES;
  if (!isSet && !existsSync(usualFile)) return defaults;
  try {
    const { readSettings } = require('./settings.cjs') as typeof import('./settings.cjs');
    return readSettings(env);
  } catch (error) {
    writeSync(2, `millrace: ${(error as Error).message}\n`);
    // As Node.js does for bad options.
    process.exit(9);
  }
}

/** Reports whether another process serves the dashboard, and wants to hear from this one. */
function isFed(env: NodeJS.ProcessEnv): boolean {
  if (!env.MILLRACE_FEED) return false;
  const { switchesOf } = require('./settings.cjs') as typeof import('./settings.cjs');
  return !switchesOf(env).includes('no-dashboard');
}

/** The timer keeps the process alive meanwhile: it would end with a top-level await that nothing settles. */
function atMost(work: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, longestWaitMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

const holder = process as unknown as Record<symbol, Started | undefined>;
const started = holder[key] ?? start();
if (holder[key] === undefined) Object.defineProperty(process, key, { value: started });

/** The features of this thread, to inspect and to switch on and off. */
export const features: Features = started.features;
/** Settings from the environment and the file. */
export const settings: Settings = started.settings;
/** @internal */
export const ready: Promise<unknown> | undefined = started.ready;
