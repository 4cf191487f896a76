/**
 * What all parts have counted, for Prometheus, OpenTelemetry and programs.
 *
 * @module monitor/metrics
 */
export { collect, runtime } from './collect.js';
export { contentType, exposition, type ProcessPoints } from './exposition.js';
export { type ObservableMeter, type OpenTelemetryOptions, openTelemetry } from './opentelemetry.js';
export {
  type Exporter,
  type MetricRegistry,
  type PrometheusOptions,
  prometheus,
} from './prometheus.js';
export { type Family, families, type Kind, type Point, runtimeFamilies } from './vocabulary.js';
