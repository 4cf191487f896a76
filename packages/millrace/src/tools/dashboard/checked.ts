/** What comes over a feed is checked before it is believed: another process may be of another version. */
import type { Point } from '@millrace/monitor/metrics';
import { type FeatureInfo, nameOf, type ProcessInfo, type Role, type Sample } from './sample.js';

const mostPoints = 5000;
const mostFeatures = 32;
const roles: readonly unknown[] = ['main', 'worker', 'cluster', 'thread'] satisfies Role[];
const states: readonly unknown[] = ['off', 'waiting', 'active'] satisfies FeatureInfo['state'][];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most;

/** What could make a text look like another one: line feeds, characters that reverse the direction, and the like. */
const unseen = /\p{C}/gu;

/** Null when it is not valid. */
export function processOf(value: unknown): ProcessInfo | null {
  if (!isRecord(value)) return null;
  const { id, pid, thread, role, title } = value;
  const good =
    Number.isSafeInteger(pid) &&
    (pid as number) > 0 &&
    Number.isSafeInteger(thread) &&
    id === nameOf(pid as number, thread as number) &&
    roles.includes(role) &&
    isText(title, 100);
  if (!good) return null;
  return { id, pid, thread, role, title: title.replaceAll(unseen, '\ufffd') } as ProcessInfo;
}

/** Null when they are not valid. */
export function featuresOf(value: unknown): FeatureInfo[] | null {
  if (!Array.isArray(value) || value.length > mostFeatures) return null;
  const features = value.map((feature) => {
    if (!isRecord(feature)) return null;
    const { name, state, why } = feature;
    const good = isText(name, 40) && states.includes(state) && (why === null || isText(why, 500));
    return good ? ({ name, state, why } as FeatureInfo) : null;
  });
  return features.includes(null) ? null : (features as FeatureInfo[]);
}

/** The sample of this process, or null when it is not valid. */
export function sampleOf(value: Record<string, unknown>, process: ProcessInfo): Sample | null {
  const { at, points, observe } = value;
  const features = featuresOf(value.features);
  if (features === null || typeof at !== 'number' || !Number.isFinite(at)) return null;
  if (!Array.isArray(points) || points.length > mostPoints || !points.every(isPoint)) return null;
  return {
    type: 'sample',
    at,
    process,
    points,
    features,
    ...(isRecord(observe) ? { observe } : {}),
  };
}

function isPoint(value: unknown): value is Point {
  if (!isRecord(value) || !isText(value.name, 100) || !/^[a-z][a-z0-9_]*$/.test(value.name)) {
    return false;
  }
  return (
    typeof value.value === 'number' &&
    isRecord(value.labels) &&
    Object.entries(value.labels).every(
      ([name, label]) => /^[a-z][a-z_]{0,39}$/.test(name) && isText(label, 100),
    )
  );
}
