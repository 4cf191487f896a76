/** Metrics through the API of OpenTelemetry, for the SDK that the application has. */
import { checkKeys, invalid } from '../core/options.js';
import { collect } from './collect.js';
import { watchLoop } from './loop.js';
import { peer } from './peer.js';
import type { Exporter } from './prometheus.js';
import { type Family, families } from './vocabulary.js';

interface InstrumentOptions {
  description: string;
  unit: string;
}

/** The part of OpenTelemetry's `Meter` that is used. */
export interface ObservableMeter {
  createObservableCounter(name: string, options: InstrumentOptions): object;
  createObservableUpDownCounter(name: string, options: InstrumentOptions): object;
  createObservableGauge(name: string, options: InstrumentOptions): object;
  addBatchObservableCallback(callback: never, observables: never): void;
  removeBatchObservableCallback(callback: never, observables: never): void;
}

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** Where the instruments are made; default `metrics.getMeter('millrace')` of `@opentelemetry/api`. */
  meter?: ObservableMeter;
}

interface Result {
  observe(instrument: object, value: number, attributes: Readonly<Record<string, string>>): void;
}

/** A name's unit at its end, and how OpenTelemetry writes it. */
const units: readonly (readonly [end: string, unit: string, kept: boolean])[] = [
  ['_ms', 'ms', false],
  ['_bytes', 'By', true],
];

/** `queue_wait_ms` → `millrace.queue.wait` in `ms`; `file_bytes_total` → `millrace.file.bytes` in `By`. */
function named({ name }: Family): { name: string; unit: string } {
  const plain = name.replace(/_total$/, '');
  const [end, unit, kept] = units.find(([end]) => plain.endsWith(end)) ?? ['', '1', true];
  const rest = kept ? plain : plain.slice(0, -end.length);
  return { name: `millrace.${rest.replaceAll('_', '.')}`, unit };
}

/** The instruments of a family, under the names of its points. */
function instruments(meter: ObservableMeter, family: Family): [string, object][] {
  const { name, unit } = named(family);
  const options = { description: family.help, unit };
  switch (family.kind) {
    case 'counter':
      return [[family.name, meter.createObservableCounter(name, options)]];
    case 'gauge': {
      // What can be added up over processes is no gauge there.
      const adds = family.across === 'sum';
      const made = adds
        ? meter.createObservableUpDownCounter(name, options)
        : meter.createObservableGauge(name, options);
      return [[family.name, made]];
    }
    default: {
      const quantiles: [string, object] = [family.name, meter.createObservableGauge(name, options)];
      if (family.across === 'max') return [quantiles];
      const count = { ...options, unit: '1' };
      return [
        quantiles,
        [`${family.name}_sum`, meter.createObservableCounter(`${name}.sum`, options)],
        [`${family.name}_count`, meter.createObservableCounter(`${name}.count`, count)],
      ];
    }
  }
}

const exporters = new WeakMap<ObservableMeter, Exporter>();

/**
 * Gives the metrics of this thread to OpenTelemetry as observable instruments. They are collected when a reader of the application's SDK
 * asks, and nothing happens in between, but for a `monitor()` of the loop. Call it after the SDK has set its provider: without one it does nothing.
 * A second call for the same meter returns what the first did.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for a bad option, and when `meter` is not given and `@opentelemetry/api` not installed
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Exporter {
  checkKeys('the options of openTelemetry()', options, ['meter']);
  const meter = meterOf(options.meter);
  const present = exporters.get(meter);
  if (present !== undefined) return present;
  const byName = new Map(families.flatMap((family) => instruments(meter, family)));
  const callback = (result: Result): void => {
    for (const { name, labels, value } of collect())
      result.observe(byName.get(name)!, value, labels);
  };
  const observed = [...byName.values()];
  meter.addBatchObservableCallback(callback as never, observed as never);
  const endWatch = watchLoop();
  const exporter = {
    stop() {
      endWatch();
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

function meterOf(given: unknown): ObservableMeter {
  const meter =
    given === undefined
      ? peer<Api>('@opentelemetry/api', 'openTelemetry()', 'meter').metrics.getMeter('millrace')
      : (given as ObservableMeter);
  if (typeof meter?.addBatchObservableCallback !== 'function') {
    throw invalid('meter', given, 'a Meter of OpenTelemetry');
  }
  return meter;
}
