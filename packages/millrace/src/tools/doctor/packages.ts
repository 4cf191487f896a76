/** Packages of the application that Millrace works with, and the lab. */
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { findLab, INSTALL } from '../lab.js';
import { type Finding, ok, type Place } from './finding.js';
import { type Copy, copiesOf } from './tree.js';

/** Copies of ws, of which `millrace/auto` finds each by itself. */
export function ws({ cwd }: Place): Finding {
  const name = 'ws';
  const copies = copiesOf(['ws'], cwd);
  if (copies.length === 0) return ok(name, 'no copy in node_modules');
  const found = copies.map((copy) => describe(copy, cwd)).join('; ');
  if (copies.every(({ version }) => majorOf(version) === 8)) return ok(name, found);
  return {
    name,
    state: 'note',
    found,
    means: 'Millrace works with version 8 and leaves others as they are',
    fix: 'npm ls ws says who brings the other one',
  };
}

function describe(copy: Copy, cwd: string): string {
  const native = seesBufferutil(copy) ? ', with bufferutil (masks and unmasks in C)' : '';
  return `${copy.version} in ${relative(cwd, copy.folder)}${native}`;
}

function seesBufferutil({ folder }: Copy): boolean {
  try {
    createRequire(join(folder, 'package.json')).resolve('bufferutil');
    return true;
  } catch {
    return false;
  }
}

export const promClient = (place: Place): Finding =>
  peer('prom-client', 15, 'metrics for Prometheus', place);

export const openTelemetry = (place: Place): Finding =>
  peer('@opentelemetry/api', 1, 'metrics for OpenTelemetry', place);

/** What `@millrace/monitor/metrics` works with, where the application has it. */
function peer(name: string, major: number, purpose: string, { cwd }: Place): Finding {
  const copies = copiesOf([name], cwd);
  if (copies.length === 0) {
    const means = `optional: @millrace/monitor/metrics needs it for ${purpose}`;
    return { name, state: 'note', found: 'not installed', means, fix: `npm install ${name}` };
  }
  const found = copies.map((copy) => describe(copy, cwd)).join('; ');
  if (copies.some(({ version }) => majorOf(version) === major)) return ok(name, found);
  const means = `@millrace/monitor/metrics needs version ${major}`;
  return { name, state: 'warning', found, means, fix: `npm install ${name}@${major}` };
}

const majorOf = (version: string): number => Number.parseInt(version, 10);

export function lab(): Finding {
  const name = '@millrace/lab';
  const path = findLab();
  if (path !== undefined) return ok(name, path);
  const means = 'optional: millrace experiment and millrace report need it';
  return { name, state: 'note', found: 'not installed', means, fix: INSTALL };
}
