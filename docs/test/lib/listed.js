/** The blocks of code that the tests here do not run: what tests them instead, or why nothing does. */

/** Whole kinds of a page, or single blocks, which another test reads from the page. */
const elsewhere = [
  { page: 'docs/reference/go.md', kind: 'go', by: 'go/eventloop/guide_test.go' },
  { page: 'go/README.md', kind: 'go', by: 'go/eventloop/guide_test.go' },
  { page: 'docs/reference/go-goja.md', kind: 'go', by: 'go/goja/eventloop/guide_test.go' },
  { page: 'docs/reference/go-batch.md', kind: 'go', by: 'go/batch/guide_test.go' },
  {
    page: 'docs/reference/threads.md',
    kind: 'c',
    by: 'packages/millrace/test/threads/example.test.js',
  },
  {
    page: 'docs/reference/threads.md',
    kind: 'json',
    by: 'packages/millrace/test/threads/example.test.js',
  },
  { id: 'docs/reference/c.md#the-first-batch', by: 'c/cmake/examples_tests.cmake' },
  { id: 'docs/guides/c.md#the-program', by: 'docs/test/guides/c.test.js' },
  { id: 'docs/guides/c.md#see-that-it-works-2', by: 'docs/test/guides/c.test.js' },
  { id: 'docs/guides/goja.md#the-program', by: 'docs/test/guides/goja.test.js' },
  { id: 'docs/guides/goja.md#see-that-it-works-2', by: 'docs/test/guides/goja.test.js' },
  { id: 'docs/guides/prove.md#the-program', by: 'docs/test/guides/prove.long.test.js' },
  { id: 'docs/guides/prove.md#the-change-2', by: 'docs/test/guides/prove.long.test.js' },
  { id: 'docs/guides/scale.md#the-program', by: 'docs/test/guides/scale.long.test.js' },
  { id: 'docs/guides/scale.md#the-program-2', by: 'docs/test/guides/scale.long.test.js' },
  { id: 'docs/guides/scale.md#the-change', by: 'docs/test/guides/scale.long.test.js' },
  { id: 'docs/guides/scale.md#the-change-3', by: 'docs/test/guides/scale.long.test.js' },
  { id: 'docs/guides/overload.md#the-program', by: 'docs/test/guides/overload.long.test.js' },
  { id: 'docs/guides/overload.md#the-program-2', by: 'docs/test/guides/overload.long.test.js' },
];

const DIAGRAM = 'a drawing';
const OUTPUT = 'what a program has printed';
const CHANGE = 'a change of one line, from another package';
const LONG = 'it takes minutes';
const ACCOUNT = 'it needs an account of a cloud';

/** Why nothing runs it, by its id. */
export const notRun = {
  'CONTRIBUTING.md#commits': 'messages of commits',
  'docs/project/maintaining.md#tests-of-peers': 'it needs a clone of another repository',
  'bench/README.md#a-new-benchmark': 'a case file whose program is not there',
  'bench/README.md#what-a-line-means': 'it names what stands in a place',
  'conformance/README.md#a-vector':
    'a vector: packages/millrace/test/conformance runs those in files',
  'conformance/README.md#semantics': 'a formula',
  'conformance/README.md#semantics-2': 'a formula',
  'conformance/README.md#semantics-3': 'a formula',
  'conformance/README.md#semantics-4': 'a formula',
  'conformance/README.md#semantics-5': 'a formula',
  'conformance/README.md#semantics-6': 'a formula',
  'docs/explanation/adaptive.md#the-rule': 'a formula',
  'docs/explanation/adaptive.md#the-rule-2': 'a formula',
  'docs/api/pool.md#logallocations': OUTPUT,
  'docs/reference/c.md#build-and-link-2': 'CMake and a shell: c/test/consumer does both',
  'docs/reference/c.md#the-life-of-an-event': DIAGRAM,
  'docs/reference/c.md#in-the-loop': DIAGRAM,
  'docs/reference/cluster.md#containers': 'a Dockerfile',
  'docs/reference/cluster.md#kubernetes': 'a part of a manifest',
  'docs/reference/cluster.md#systemd': 'it needs systemd',
  'docs/reference/guard.md#observing': OUTPUT,
  'docs/reference/lab.md#tune': OUTPUT,
  'docs/reference/stalls.md#stalls': OUTPUT,
  'docs/reference/stalls.md#worker-threads': OUTPUT,
  'docs/guides/deploy.md#probes-of-a-blocked-process':
    'a part of a manifest: deploy/test reads a whole one',
  'docs/guides/deploy.md#app-engine': ACCOUNT,
  'docs/guides/deploy.md#compose': 'it needs a daemon; deploy/test reads compose.yaml',
  'docs/guides/deploy.md#eks': ACCOUNT,
  'docs/guides/deploy.md#kubernetes': 'it needs a cluster; deploy/test reads the manifests',
  'docs/guides/deploy.md#kubernetes-2': 'it needs a cluster; deploy/test reads the manifests',
  'docs/explanation/design.md#the-path-of-an-event': DIAGRAM,
  'docs/reference/go-goja.md#switching': CHANGE,
  'docs/reference/guard.md#moving-from-fastifyunder-pressure': CHANGE,
  'docs/guides/cpu.md#see-that-it-works': OUTPUT,
  'docs/guides/files.md#a-large-file-in-pieces-4': OUTPUT,
  'docs/guides/files.md#see-that-it-works-2': OUTPUT,
  'docs/guides/overload.md#see-that-it-works': OUTPUT,
  'docs/guides/overload.md#the-program-3': OUTPUT,
  'docs/guides/websocket.md#see-that-it-works-2': OUTPUT,
  'docs/guides/websocket.md#the-change-2': OUTPUT,
  'docs/guides/prove.md#see-that-it-works': OUTPUT,
  'docs/guides/scale.md#see-that-it-works-2': OUTPUT,
  'docs/guides/scale.md#see-that-it-works-4': OUTPUT,
  'docs/reference/lab.md#in-a-program': `${LONG}; packages/lab/experiment/test/run.test.js makes the same calls`,
  'docs/reference/observe.md#a-first-report-3': OUTPUT,
  'docs/reference/observe.md#a-first-report-4': OUTPUT,
  'docs/reference/pool.md#from-piscina': CHANGE,
  'docs/reference/pool.md#events-2': OUTPUT,
  'examples/cursors/README.md#what-was-found': OUTPUT,
  'examples/overload/README.md#what-was-found': OUTPUT,
  'examples/streaming/README.md#what-to-expect': OUTPUT,
  'examples/streaming/README.md#long-round-trips': OUTPUT,
  'packages/lab/load/README.md#the-load-generator-2': `${LONG}; packages/lab/load/test/driver.test.js makes the same calls`,
};

/** What tests a block instead: the path of a file; or undefined. */
export const testedBy = ({ id, page, kind }) =>
  elsewhere.find((entry) => entry.id === id || (entry.page === page && entry.kind === kind))?.by;

export const isListed = (snippet) =>
  Object.hasOwn(notRun, snippet.id) || testedBy(snippet) !== undefined;

/** The entries of `elsewhere` that stand for none of the given blocks. */
export const unused = (snippets) =>
  elsewhere.filter(
    ({ id, page, kind }) =>
      !snippets.some((each) => each.id === id || (each.page === page && each.kind === kind)),
  );
