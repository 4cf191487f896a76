// @millrace/monitor/metrics as its users' compilers see it.

import {
  collect,
  contentType,
  type Exporter,
  exposition,
  type Family,
  families,
  type OpenTelemetryOptions,
  openTelemetry,
  type Point,
  type PrometheusOptions,
  prometheus,
  runtime,
  runtimeFamilies,
} from '@millrace/monitor/metrics';
import { type Meter, metrics } from '@opentelemetry/api';
import { AggregatorRegistry, Registry, register } from 'prom-client';

// registries of prom-client
const options: PrometheusOptions = { register: new Registry(), prefix: 'shop_' };
const exporters: Exporter[] = [
  prometheus(),
  prometheus(options),
  prometheus({ register }),
  prometheus({ register: new AggregatorRegistry() }),
];
for (const exporter of exporters) exporter.stop();
// @ts-expect-error: not a registry
prometheus({ register: {} });

// meters of OpenTelemetry
const meter: Meter = metrics.getMeter('shop');
const other: OpenTelemetryOptions = { meter };
openTelemetry(other).stop();
// @ts-expect-error: not a meter
openTelemetry({ meter: register });

// the values
const points: Point[] = [...collect(), ...runtime()];
const text: string = exposition([{ labels: { process: '1' }, points }], 'shop_');
const names: string[] = [...families, ...runtimeFamilies].map(({ name }: Family) => name);
// @ts-expect-error: read only
points[0]!.value = 1;

export { contentType, names, text };
