/** Companions of the features: observe mode, dashboard, metrics. Only loaded where one of them is enabled. */
import { builtin } from '@millrace/base/realm';
import type * as Observe from '../tools/observe/index.js' with { 'resolution-mode': 'import' };
import type { Features, Settings } from './feature.cjs';
import { whenSettled } from './features.cjs';
import { canRequire, sentence } from './functions.cjs';

const { randomBytes } = builtin('node:crypto');
const { resolve } = builtin('node:path');
const { isMainThread } = builtin('node:worker_threads');

type Observation = Observe.Observation;

/**
 * Starts those that are wanted; `feeds`: another process serves the dashboard, and wants to hear from this one. The promise
 * resolves when they are there; it does not reject.
 */
export function startCompanions(
  settings: Settings,
  features: Features,
  env: NodeJS.ProcessEnv,
  feeds: boolean,
): Promise<unknown> {
  const { MILLRACE_OBSERVE_JSON: json, MILLRACE_OBSERVE_KEPT: kept, MILLRACE_FEED } = env;
  const starts: Promise<unknown>[] = [];
  let observed: Promise<Observation | null> = Promise.resolve(null);
  if (settings.mode === 'observe') {
    const maxWait = typeof settings.guard === 'object' ? settings.guard.maxWait : undefined;
    const options = {
      json: json ? resolve(json) : null,
      kept: kept || null,
      ...(maxWait === undefined ? {} : { maxWait }),
    };
    observed = startObserver(options).catch(warn);
    starts.push(observed);
  }
  const fd = takeDashboardFd(env);
  if (settings.dashboard || feeds) {
    if (settings.dashboard && !MILLRACE_FEED) tellChildren(settings.dashboard, env);
    const loaded = import('../tools/dashboard/index.js');
    const started = Promise.all([loaded, observed]).then(([{ startDashboard }, observation]) =>
      startDashboard(
        { ...(settings.dashboard || {}), fd },
        {
          features,
          ...(observation === null ? {} : { report: () => observation.report() }),
        },
      ),
    );
    starts.push(started.catch(warn));
  }
  if (settings.metrics === 'opentelemetry') {
    // Its provider is set by the application, which has not begun.
    whenSettled(() => {
      import('@millrace/monitor/metrics').then(({ openTelemetry }) => openTelemetry()).catch(warn);
    });
  }
  return Promise.all(starts);
}

/** Starts at once where an ES module can be required: an application may end in its first turn. */
async function startObserver(
  options: Parameters<typeof Observe.startObserving>[0],
): Promise<Observation> {
  const { startObserving } = canRequire
    ? (require('../tools/observe/index.js') as typeof Observe)
    : await import('../tools/observe/index.js');
  return startObserving(options);
}

/** The socket that `millrace run` has handed to this process. Its children must not take theirs for one. */
function takeDashboardFd(env: NodeJS.ProcessEnv): number | undefined {
  const { MILLRACE_DASHBOARD_FD: fd } = env;
  if (!fd || !isMainThread || env.NODE_UNIQUE_ID !== undefined) return undefined;
  delete env.MILLRACE_DASHBOARD_FD;
  return Number(fd);
}

/**
 * Children that are made in the first turn must find the dashboard before it listens. It corrects this when it does, and
 * when it cannot.
 */
function tellChildren(
  { host, port }: { host: string; port: number },
  env: NodeJS.ProcessEnv,
): void {
  if (port === 0 || !isMainThread || env.NODE_UNIQUE_ID !== undefined) return;
  const everywhere = ['0.0.0.0', '::', 'localhost'].includes(host);
  const name = host.includes(':') ? `[${host}]` : host;
  env.MILLRACE_FEED = `${everywhere ? '127.0.0.1' : name}:${port}`;
  env.MILLRACE_FEED_TOKEN = randomBytes(16).toString('hex');
  env.MILLRACE_FEED_PID = String(process.pid);
}

function warn(error: unknown): null {
  process.emitWarning(sentence(error), { type: 'MillraceWarning' });
  return null;
}
