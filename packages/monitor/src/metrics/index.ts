/**
 * Counters of all parts, for Prometheus, OpenTelemetry and programs.
 *
 * @module monitor/metrics
 */
export { collect, type Exporter, runtime } from './collect.js';
export { type ObservableMeter, type OpenTelemetryOptions, openTelemetry } from './opentelemetry.js';
export {
  contentType,
  exposition,
  type MetricRegistry,
  type ProcessPoints,
  type PrometheusOptions,
  prometheus,
} from './prometheus.js';
export { type Family, families, type Kind, type Point, runtimeFamilies } from './vocabulary.js';
