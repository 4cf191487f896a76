/** What to do: the environment before the file before the defaults. Reading it has no side effects. */
import { existsSync } from 'node:fs';
import type { Settings } from './types.cjs';

/** As `MILLRACE` and files say it, before the dashboard's defaults are filled in. */
export type Given = { -readonly [Name in keyof Settings]: Settings[Name] | undefined };

const usualFile = 'millrace.config.json';

const defaults: Settings = Object.freeze({
  mode: 'act',
  ws: true,
  fs: true,
  reads: true,
  net: false,
  guard: false,
  monitor: true,
  dashboard: false,
  metrics: false,
  file: null,
});

const off: Settings = Object.freeze({
  ...defaults,
  mode: 'off',
  ws: false,
  fs: false,
  reads: false,
  monitor: false,
});

/** The words of MILLRACE. */
export function switchesOf({ MILLRACE }: NodeJS.ProcessEnv): string[] {
  return MILLRACE ? MILLRACE.split(',').map((word) => word.trim()) : [];
}

/**
 * Reads MILLRACE, MILLRACE_CONFIG, MILLRACE_DASHBOARD and MILLRACE_DASHBOARD_TOKEN from `env`, and millrace.config.json
 * from the folder `cwd`. With `off` among the switches nothing else is looked at. Throws an Error whose message is one
 * sentence about the first mistake: name, bad value, and what was probably meant.
 */
export function readSettings(env: NodeJS.ProcessEnv, cwd = '.'): Settings {
  const { MILLRACE, MILLRACE_CONFIG, MILLRACE_DASHBOARD, MILLRACE_DASHBOARD_TOKEN } = env;
  const switches = switchesOf(env);
  if (switches.includes('off')) return off;
  const file = MILLRACE_CONFIG || (cwd === '.' ? usualFile : `${cwd}/${usualFile}`);
  const hasFile = MILLRACE_CONFIG ? true : existsSync(file);
  if (!hasFile && !MILLRACE && !MILLRACE_DASHBOARD) return defaults;
  // Most programs never come here.
  const given = require('./given.cjs') as typeof import('./given.cjs');
  const settings = {
    ...defaults,
    ...(hasFile ? given.ofFile(file) : {}),
  } as Given;
  given.applySwitches(settings, switches);
  given.applyDashboard(settings, switches, MILLRACE_DASHBOARD, MILLRACE_DASHBOARD_TOKEN);
  if (settings.mode === 'off') return { ...off, file: settings.file ?? null };
  return Object.freeze(settings) as Settings;
}
