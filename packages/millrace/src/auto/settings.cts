/**
 * What to do: the environment before the file before the defaults. Reading it has no side effects. Only loaded where the environment
 * or a file may say something.
 */
import { builtin } from '@millrace/base/realm';
import { defaults, usualFile } from './features.cjs';
import { applyDashboard, applySwitches, type Given, ofFile } from './given.cjs';
import type { Settings } from './types.cjs';

const { existsSync } = builtin('node:fs');

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
  const settings = { ...defaults, ...(hasFile ? ofFile(file) : {}) } as Given;
  applySwitches(settings, switches);
  applyDashboard(settings, switches, MILLRACE_DASHBOARD, MILLRACE_DASHBOARD_TOKEN);
  if (settings.mode === 'off') return { ...off, file: settings.file ?? null };
  return Object.freeze(settings) as Settings;
}
