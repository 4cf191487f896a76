import { install } from '../../../scripts/lib/installed.js';
import { testPackage } from '../../../scripts/lib/package-test.js';

await testPackage('@millrace/lab', {
  installation: await install('@millrace/lab'),
  contents: [
    /^(bin|cli)\.js$/,
    /^(compare|experiment|load|report|run|stats|tune)\/((?!test|truth)[a-z-]+\/)*[a-z-]+\.(c?js|css)$/,
    /^(load|run)\/README\.md$/,
    /^load\/CMakeLists\.txt$/,
    /^load\/src\/[a-z0-9]+\.[ch]$/,
    // It is compiled when a run counts allocations.
    /^experiment\/sample\/allocations\.c$/,
    /^types\/.+\.d\.c?ts$/,
  ],
  dependencies: ['@observablehq/plot', 'autocannon', 'linkedom', 'ws'],
  program: `import { Cleanup, loadExperiment, runExperiment } from '@millrace/lab/experiment';
    const experiment = await loadExperiment('./cache.js');
    const results = await runExperiment(experiment, { size: 'quick', seed: 1, cleanup: new Cleanup() });
    console.log(results.figures);
    // @ts-expect-error: there is no such thing
    console.log(results.nothing);`,
});
