/**
 * Metrics for Prometheus: its text format, version 0.0.4, and metrics in a registry of prom-client. A scrape collects once: all
 * metrics of a registry are asked in one go, and share the points of that one collection.
 */
import { parse, refused } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { nextMicrotask } from '@millrace/base/turn';
import { responses } from '../responses.js';
import { collect, type Exporter, required, watchLoop } from './collect.js';
import { type Family, families, type Kind, type Point, runtimeFamilies } from './vocabulary.js';

/** Points of one process, and the labels that distinguish it. */
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
 * Formats the points of several processes for Prometheus. Names get the prefix, those of the runtime do not. Families without
 * a point are left out, and so are points without a family.
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

/** Methods of prom-client's `Registry` that are used, so that any copy of it will do. */
export interface MetricRegistry {
  registerMetric(metric: never): void;
  removeSingleMetric(name: string): void;
  getSingleMetric(name: string): unknown;
}

/** Options of {@link prometheus}. */
export interface PrometheusOptions {
  /** Registry of the metrics; default the one that `prom-client` exports as `register`. */
  register?: MetricRegistry;
  /** Prefix of their names; default `millrace_`. */
  prefix?: string;
  /**
   * Counts responses of node:http by route, as `responses()` does: up to 101 routes, with some ten series each. Default:
   * true.
   */
  responses?: boolean;
}

export const prometheusSchema = is.schema({
  register: is.custom<MetricRegistry>(
    'a Registry of prom-client',
    (value: any) => typeof value?.registerMetric === 'function',
  ),
  responses: is.boolean(true),
  prefix: is.or(
    is.text('letters, digits, _ and :, without a digit at its beginning', (prefix) =>
      /^([a-zA-Z_:][\w:]*)?$/.test(prefix),
    ),
    'millrace_',
  ),
} satisfies is.FieldsOf<PrometheusOptions>);

interface Value {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The points of a scrape, by name. All metrics are asked in one go, and share these. */
let scrape: Map<string, Point[]> | null = null;

function pointsOf(name: string): readonly Point[] {
  if (scrape === null) {
    scrape = new Map();
    for (const point of collect()) {
      const named = scrape.get(point.name);
      if (named === undefined) scrape.set(point.name, [point]);
      else named.push(point);
    }
    nextMicrotask(() => {
      scrape = null;
    });
  }
  return scrape.get(name) ?? [];
}

/** Metric as a registry uses it. Not built from prom-client's classes: there is nothing to keep between two scrapes. */
class CollectedMetric {
  /** Name in the registry. */
  readonly key: string;
  /** A registry for OpenMetrics removes the `_total` for good, and adds it by itself. */
  name: string;
  readonly #prefix: string;
  readonly #family: Family;
  readonly help: string;
  readonly type: Kind;
  /** Aggregation by prom-client of the values of several processes. */
  readonly aggregator: 'sum' | 'max';

  constructor(family: Family, prefix: string) {
    this.key = prefix + family.name;
    this.name = this.key;
    this.#prefix = prefix;
    this.#family = family;
    this.help = family.help;
    this.type = family.kind;
    this.aggregator = family.across;
  }

  /** Returns JSON, which passes between processes: without the quantiles of summaries, which cannot be added up. */
  get() {
    return this.#told(this.#hasTotals ? [] : this.#values(''));
  }

  getForPromString() {
    return this.#told(this.#values(''));
  }

  /** Totals belong to the objects. */
  reset(): void {}

  get #hasTotals(): boolean {
    return this.type === 'summary' && this.aggregator === 'sum';
  }

  #told(values: Value[]) {
    const { name, help, type, aggregator } = this;
    const totals = this.#hasTotals ? [...this.#values('_sum'), ...this.#values('_count')] : [];
    return { name, help, type, aggregator, values: [...values, ...totals] };
  }

  #values(part: '' | '_sum' | '_count'): Value[] {
    const name = this.#family.name + part;
    return pointsOf(name).map(({ labels, value }) =>
      part === '' ? { labels, value } : { metricName: this.#prefix + name, labels, value },
    );
  }
}

const exporters = new WeakMap<MetricRegistry, Map<string, CollectedMetric[]>>();

/**
 * Adds the metrics of this thread to a registry of prom-client. They are collected on request; in between only a `monitor()`
 * of the loop runs, and responses are counted. In a registry that has them already nothing changes.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for a bad option, and when `register` is not given and prom-client not installed
 */
export function prometheus(options: PrometheusOptions = {}): Exporter {
  const {
    prefix,
    register = usualRegistry(),
    responses: counts,
  } = parse('prometheus()', options, prometheusSchema);
  const byPrefix = exporters.get(register) ?? new Map<string, CollectedMetric[]>();
  const metrics =
    byPrefix.get(prefix) ?? families.map((family) => new CollectedMetric(family, prefix));
  // All of them or none. One that was cleared since gets them again.
  const missing = metrics.filter((metric) => register.getSingleMetric(metric.key) !== metric);
  const taken = missing.find(({ key }) => register.getSingleMetric(key) !== undefined);
  if (taken !== undefined) {
    const why = `another one, as the registry has a ${taken.key} already`;
    throw refused('prometheus()', 'prefix', prefix, why);
  }
  exporters.set(register, byPrefix);
  byPrefix.set(prefix, metrics);
  for (const metric of missing) {
    metric.name = metric.key;
    register.registerMetric(metric as never);
  }
  const endWatch = watchLoop();
  const counting = counts ? responses() : null;
  return {
    stop() {
      endWatch();
      counting?.stop();
      if (byPrefix.get(prefix) !== metrics) return;
      byPrefix.delete(prefix);
      for (const { key } of metrics) register.removeSingleMetric(key);
    },
  };
}

const usualRegistry = (): MetricRegistry =>
  required<{ register: MetricRegistry }>('prom-client', 'prometheus()', 'register').register;
