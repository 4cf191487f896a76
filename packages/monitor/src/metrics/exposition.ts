/** Prometheus' text format, version 0.0.4. */
import { type Family, families, type Point, runtimeFamilies } from './vocabulary.js';

/** The points of one process and the labels that tell it from the others. */
export interface ProcessPoints {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly Point[];
}

/** The `content-type` of what {@link exposition} returns. */
export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

const all: readonly (readonly [Family, isRuntime: boolean])[] = [
  ...families.map((family) => [family, false] as const),
  ...runtimeFamilies.map((family) => [family, true] as const),
];

/**
 * The points of several processes as Prometheus reads them. Names get the prefix, those of the runtime do not. Families without a point
 * are left out, and so are points without a family.
 */
export function exposition(processes: readonly ProcessPoints[], prefix = 'millrace_'): string {
  const lines = new Map<string, string[]>();
  for (const { labels, points } of processes) {
    for (const point of points) {
      const line = ` ${point.value}`;
      const of = lines.get(point.name) ?? [];
      of.push(labelsOf({ ...point.labels, ...labels }) + line);
      lines.set(point.name, of);
    }
  }
  let text = '';
  for (const [{ name, kind, help }, isRuntime] of all) {
    const full = isRuntime ? name : prefix + name;
    const parts = kind === 'summary' ? ['', '_sum', '_count'] : [''];
    const series = parts.flatMap((part) =>
      (lines.get(name + part) ?? []).map((line) => `${full}${part}${line}\n`),
    );
    if (series.length === 0) continue;
    text += `# HELP ${full} ${help}\n# TYPE ${full} ${kind}\n${series.join('')}`;
  }
  return text;
}

const labelsOf = (labels: Readonly<Record<string, string>>): string => {
  const all = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return all.length === 0 ? '' : `{${all.join(',')}}`;
};

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
