/** Whatever is scaled on is a metric that Millrace has, by its labels and values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { families } from '@millrace/monitor/metrics';
import { documents, object, read, yaml } from './lib/files.js';

const NAMES = new Map(
  families.flatMap(({ name, kind, labels }) =>
    (kind === 'summary' ? ['', '_sum', '_count'] : ['']).map((end) => [
      `millrace_${name}${end}`,
      labels,
    ]),
  ),
);

/** Labels that Prometheus adds. */
const ADDED = ['job', 'instance', 'namespace', 'pod'];

/** What is wrong with the metrics that a query names. */
function faultsOf(query) {
  const found = [...query.matchAll(/\b(millrace_\w+)(?:\{([^}]*)\})?/g)];
  return found.flatMap(([, name, selector = '']) => {
    if (!NAMES.has(name)) return [`${name} is no metric`];
    return [...selector.matchAll(/(\w+)\s*[!=]~?"/g)]
      .map(([, label]) => label)
      .filter((label) => ![...ADDED, ...NAMES.get(name)].includes(label))
      .map((label) => `${name} has no label ${label}`);
  });
}

const rules = yaml('kubernetes/scale-adapter/values.yaml').rules.custom;
const queries = [
  ...documents('kubernetes/scale-load/scalers.yaml')
    .flatMap(({ spec }) => spec.triggers)
    .filter(({ type }) => type === 'prometheus')
    .map(({ metadata }) => metadata.query),
  ...rules.flatMap(({ seriesQuery, metricsQuery }) => [
    seriesQuery,
    metricsQuery.replaceAll('<<.LabelMatchers>>', 'pod="x"'),
  ]),
];

test('metrics and labels are those of the vocabulary', () => {
  assert.ok(queries.length >= 9);
  for (const query of queries) assert.deepEqual(faultsOf(query), [], query);
  assert.deepEqual(faultsOf('rate(millrace_shed{class="x"}[1m])'), ['millrace_shed is no metric']);
  assert.deepEqual(faultsOf('millrace_queue_fill{source="a",x="b"}'), [
    'millrace_queue_fill has no label x',
  ]);
});

test('loop utilization, shed rate and batch fill are all scaled on', () => {
  for (const text of [
    JSON.stringify(object('ScaledObject', 'chat', 'scale-load')),
    read('kubernetes/scale-adapter/values.yaml'),
  ]) {
    for (const name of ['loop_utilization', 'shed_total', 'batch_trigger_total']) {
      assert.ok(text.includes(name), name);
    }
  }
});

test('the metrics that the autoscaler asks the adapter for are made by a rule', () => {
  const made = rules.map(({ name }) => name.as);
  const [{ spec }] = documents('kubernetes/scale-adapter/scalers.yaml');
  const asked = spec.metrics.flatMap(({ pods }) => (pods ? [pods.metric.name] : []));
  assert.ok(asked.length >= 2);
  for (const name of asked) assert.ok(made.includes(name), name);
});

test('a job that is queried is one that Prometheus scrapes under that name', () => {
  const jobs = new Set(
    queries.flatMap((query) => [...query.matchAll(/job="(\w+)"/g)].map(([, job]) => job)),
  );
  const scraped = yaml('compose/prometheus.yml').scrape_configs.map((each) => each.job_name);
  assert.deepEqual([...jobs], scraped);
});
