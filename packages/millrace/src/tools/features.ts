import { UsageError } from '@millrace/base/command';
import { nearest } from '@millrace/base/schema';
import type { FeatureName } from '../auto/feature.cjs';
import { featureNames } from '../auto/settings.cjs';

/**
 * The value of MILLRACE for an application: what it is already, then features that are switched on, then those off.
 *
 * @throws {UsageError} a name is not that of a feature, or is in both lists
 */
export function switches(
  present: string | undefined,
  on: string | undefined,
  off: string | undefined,
): string | undefined {
  const wanted = namesIn('--with', on);
  const unwanted = namesIn('--without', off);
  const both = wanted.find((name) => unwanted.includes(name));
  if (both !== undefined) throw new UsageError(`${both} is in both --with and --without.`);
  const parts = [...(present ? [present] : []), ...wanted, ...unwanted.map((name) => `no-${name}`)];
  return parts.length === 0 ? undefined : parts.join(',');
}

function namesIn(option: string, list: string | undefined): string[] {
  if (list === undefined) return [];
  const names = list.split(',').map((name) => name.trim());
  for (const name of names) {
    if (featureNames.includes(name as FeatureName)) continue;
    const meant = nearest(name, featureNames);
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw new UsageError(
      `${option} has ${JSON.stringify(name)}, which is not a feature.${hint} Features: ${featureNames.join(', ')}.`,
    );
  }
  return names;
}
