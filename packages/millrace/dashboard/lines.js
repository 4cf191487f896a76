/** Makers of the lines of charts: functions that take a span and return lines. */

/** Makes a line for each value of a label. */
export const by = (name, label, valuesOf, { rename = {}, last = [] } = {}) => {
  return (span) =>
    span.valuesOf(name, label).map((value) => ({
      label: rename[value] ?? value,
      dashed: last.includes(value),
      optional: true,
      values: valuesOf(span, { [label]: value }),
    }));
};
export const ratesBy = (name, label) =>
  by(name, label, (span, where) => span.rate(name, { where }));
export const levelsBy = (name, label, across) =>
  by(name, label, (span, where) => span.level(name, { where, across }));
export const quantiles = (name, where = {}) => {
  const names = { 0.5: 'median', 0.9: 'p90', 0.99: 'p99', 1: 'longest' };
  const values = (span, quantile) =>
    span.level(name, { where: { ...where, ...quantile }, across: 'max' });
  return by(name, 'quantile', values, { rename: names, last: ['1'] });
};
export const rate = (label, name, options) => (span) => ({
  label,
  values: span.rate(name, options),
});
export const level = (label, name, options) => (span) => ({
  label,
  values: span.level(name, options),
});
export const lines =
  (...makers) =>
  (span) =>
    makers.flatMap((make) => make(span));
export const means = (name, label = 'source') =>
  by(`${name}_count`, label, (span, where) => span.quotient(`${name}_sum`, `${name}_count`, where));

/** Lines that can be told apart. */
const mostLines = 6;

/** Makes a line for each of the routes with the most responses in sight. */
export const busiestRoutes = (valuesOf) => (span) => {
  const count = (where) =>
    span.rate('http_response_ms_count', { where }).reduce((sum, each) => sum + (each ?? 0), 0);
  return span
    .valuesOf('http_response_ms_count', 'route')
    .map((route) => ({ route, count: count({ route }) }))
    .sort((a, b) => b.count - a.count)
    .slice(0, mostLines)
    .map(({ route }) => ({ label: route, optional: true, values: valuesOf(span, { route }) }));
};
export const responseTimes = (quantile) =>
  busiestRoutes((span, where) =>
    span.level('http_response_ms', { where: { ...where, quantile }, across: 'max' }),
  );

/** Makes a line for each of several processes, as long as they can be told apart. */
export const perProcess = (label, valuesOf) => (span) => {
  if (span.processes.length === 1) return [{ label, values: valuesOf(span) }];
  if (span.processes.length > mostLines) return [{ label: 'highest', values: valuesOf(span) }];
  return span.processes.map((process) => ({
    label: process.info.id,
    values: valuesOf(span.of(process)),
  }));
};

/** Two labels in one name: class and reason of a request that was turned away. */
export const shed = (name, prefix, dashed) => (span) =>
  span.valuesOf(name, 'class').flatMap((klass) =>
    span.valuesOf(name, 'reason').map((reason) => ({
      label: `${prefix}${klass}, ${reason}`,
      dashed,
      optional: true,
      values: span.rate(name, { where: { class: klass, reason } }),
    })),
  );

/** Threads of a process tell of its memory and CPU what it tells itself. */
export const once = { oncePerPid: true };
