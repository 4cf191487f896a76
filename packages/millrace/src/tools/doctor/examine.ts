import { addon } from './addon.js';
import { config } from './config.js';
import { cgroup, cpus, memory } from './container.js';
import type { Check, Finding, Place } from './finding.js';
import { ioUring, libuv } from './io-uring.js';
import { backlog, openFiles, threadPool } from './limits.js';
import { millraceVersion, nodeOptions, nodeVersion } from './node.js';
import { lab, openTelemetry, promClient, ws } from './packages.js';
import { perf } from './perf.js';

/** In the order of the report. libuv comes before the addon is loaded, whose ring would count as one of Node's. */
const CHECKS: Readonly<Record<string, Check>> = {
  'Node.js': (place) => nodeVersion(place),
  millrace: millraceVersion,
  libuv,
  addon,
  io_uring: ioUring,
  CPUs: (place) => cpus(place),
  memory: (place) => memory(place),
  cgroup,
  'open files': openFiles,
  'thread pool': threadPool,
  backlog,
  NODE_OPTIONS: nodeOptions,
  settings: config,
  ws,
  'prom-client': promClient,
  '@opentelemetry/api': openTelemetry,
  '@millrace/lab': lab,
  perf,
};

/** Makes all checks, one after the other. One that fails is a finding itself. */
export async function examine(place: Place): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      findings.push(await check(place));
    } catch (error) {
      const found = `could not be looked at: ${(error as Error).message}`;
      findings.push({ name, state: 'warning', found, means: null, fix: null });
    }
  }
  return findings;
}
