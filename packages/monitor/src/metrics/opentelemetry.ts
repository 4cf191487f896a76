/** Metrics through the API of OpenTelemetry, for the SDK that the application has. */
import { parse } from '@millrace/base/options';
import { boolean, custom, type FieldsOf, schema } from '@millrace/base/schema';
import { type Responses, responses } from '../responses.js';
import { collect, type Exporter, required, watchLoop } from './collect.js';
import { type Family, families, type Point } from './vocabulary.js';

interface InstrumentOptions {
  description: string;
  unit: string;
}

/** Methods of OpenTelemetry's `Meter` that are used. */
export interface ObservableMeter {
  createObservableCounter(name: string, options: InstrumentOptions): object;
  createObservableUpDownCounter(name: string, options: InstrumentOptions): object;
  createObservableGauge(name: string, options: InstrumentOptions): object;
  addBatchObservableCallback(callback: never, observables: never): void;
  removeBatchObservableCallback(callback: never, observables: never): void;
}

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** Meter of the instruments; default `metrics.getMeter('millrace')` of `@opentelemetry/api`. */
  meter?: ObservableMeter;
  /** Counts responses of node:http by route, as `responses()` does. Default: true. */
  responses?: boolean;
}

interface Result {
  observe(instrument: object, value: number, attributes: Readonly<Record<string, string>>): void;
}

/** First words of names that say to what the rest belongs. */
const areas = /^(batch|broker|cache|cluster|fanout|file|gc|http|loop|pool|queue)_/;

/** `queue_wait_ms` → `millrace.queue.wait`, `file_read_batches_total` → `millrace.file.read_batches`: units and kinds are told apart from names. */
const nameOf = ({ name }: Family): string =>
  `millrace.${name
    .replace(/_total$/, '')
    .replace(/_ms$/, '')
    .replace(areas, '$1.')}`;

/**
 * Names of the semantic conventions of OpenTelemetry for figures of the loop: its dashboards find them without a word about us. By name and
 * quantile of our point; the conventions count in seconds.
 */
const conventions = [
  ['loop_utilization', undefined, 'nodejs.eventloop.utilization', '1', 1],
  ['loop_delay_ms', '0.5', 'nodejs.eventloop.delay.p50', 's', 1000],
  ['loop_delay_ms', '0.9', 'nodejs.eventloop.delay.p90', 's', 1000],
  ['loop_delay_ms', '0.99', 'nodejs.eventloop.delay.p99', 's', 1000],
  ['loop_delay_ms', '1', 'nodejs.eventloop.delay.max', 's', 1000],
] as const;

const noLabels = {};

/** Observes those of the points that have a conventional name, too. */
type Conventional = (result: Result, point: Point) => void;

function conventional(meter: ObservableMeter): { observe: Conventional; instruments: object[] } {
  const known = conventions.map(([name, quantile, conventionalName, unit, divisor]) => {
    const { help } = families.find((family) => family.name === name)!;
    const instrument = meter.createObservableGauge(conventionalName, { description: help, unit });
    return { name, quantile, instrument, divisor };
  });
  return {
    instruments: known.map(({ instrument }) => instrument),
    observe(result, { name, labels, value }) {
      const match = known.find((each) => each.name === name && each.quantile === labels.quantile);
      if (match !== undefined) result.observe(match.instrument, value / match.divisor, noLabels);
    },
  };
}

/** The instruments of a family, under the names of its points. */
function instruments(meter: ObservableMeter, family: Family): [string, object][] {
  const name = nameOf(family);
  const options = { description: family.help, unit: family.unit };
  switch (family.kind) {
    case 'counter':
      return [[family.name, meter.createObservableCounter(name, options)]];
    case 'gauge': {
      // There, what can be added up over processes is not a gauge.
      const adds = family.across === 'sum';
      const made = adds
        ? meter.createObservableUpDownCounter(name, options)
        : meter.createObservableGauge(name, options);
      return [[family.name, made]];
    }
    default: {
      const quantiles: [string, object] = [family.name, meter.createObservableGauge(name, options)];
      if (family.across === 'max') return [quantiles];
      const count = { ...options, unit: '{count}' };
      return [
        quantiles,
        [`${family.name}_sum`, meter.createObservableCounter(`${name}_sum`, options)],
        [`${family.name}_count`, meter.createObservableCounter(`${name}_count`, count)],
      ];
    }
  }
}

export const openTelemetrySchema = schema({
  meter: custom<ObservableMeter>(
    'a Meter of OpenTelemetry',
    (value: any) => typeof value?.addBatchObservableCallback === 'function',
  ),
  responses: boolean(true),
} satisfies FieldsOf<OpenTelemetryOptions>);

const exporters = new WeakMap<ObservableMeter, Exporter>();

/**
 * Registers the metrics of this thread with OpenTelemetry as observable instruments. They are collected when a reader of the
 * application's SDK asks. From the first collection on a `monitor()` of the loop runs and responses are counted; nothing else
 * happens in between. Call it after the SDK has set its provider: without one it does nothing. A second call for the same
 * meter returns the handle of the first.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for a bad option, and when `meter` is not given and `@opentelemetry/api` not installed
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Exporter {
  const parsed = parse('openTelemetry()', options, openTelemetrySchema);
  const { meter = usualMeter() } = parsed;
  const present = exporters.get(meter);
  if (present !== undefined) return present;
  const byName = new Map(families.flatMap((family) => instruments(meter, family)));
  const { observe, instruments: named } = conventional(meter);
  let endWatch: (() => void) | null = null;
  let counting: Responses | null = null;
  const callback = (result: Result): void => {
    for (const point of collect()) {
      result.observe(byName.get(point.name)!, point.value, point.labels);
      observe(result, point);
    }
    // Not before: a meter without an SDK never asks. A monitor that has just begun has nothing to say.
    endWatch ??= watchLoop();
    if (parsed.responses) counting ??= responses();
  };
  const observed = [...byName.values(), ...named];
  meter.addBatchObservableCallback(callback as never, observed as never);
  const exporter = {
    stop() {
      endWatch?.();
      counting?.stop();
      exporters.delete(meter);
      meter.removeBatchObservableCallback(callback as never, observed as never);
    },
  };
  exporters.set(meter, exporter);
  return exporter;
}

interface Api {
  metrics: { getMeter(name: string): ObservableMeter };
}

const usualMeter = (): ObservableMeter =>
  required<Api>('@opentelemetry/api', 'openTelemetry()', 'meter').metrics.getMeter('millrace');
