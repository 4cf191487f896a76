/** What `make test` and `make check-all` do, in order. A new step is a new line here. */

import { testPackages } from './debian.js';
import { command } from './lib/command.js';
import { provision } from './lib/provision.js';
import { repository } from './lib/repository.js';
import { generator, millrace, packages, tools } from './lib/setup.js';
import { suite } from './lib/suite.js';

const fuzzSeconds = Number(process.env.FUZZ_SECONDS || 60);

const suites = [
  suite({ title: 'tests of millrace', folder: 'node/test', concurrency: 2 }),
  suite({ title: 'tests of the lab', folder: 'lab/load/test' }),
  suite({ title: 'tests of the chat', folder: 'examples/chat/test' }),
  suite({ title: 'tests of the demo', folder: 'lab/run/test' }),
];

export const testSteps = [
  tools('git', 'make', 'cmake', 'cc'),
  packages(),
  millrace,
  generator,
  provision(testPackages),
  command('format and lint', 'node_modules/.bin/biome ci --colors=off --error-on-warnings'),
  command('types as users see them', 'node_modules/.bin/tsc --noEmit -p node/test-types'),
  repository(suites.map(({ folder }) => folder)),
  command(
    'tests of the generator',
    'ctest --test-dir lab/load/build --no-tests=error --output-on-failure',
  ),
  ...suites,
];

export const longSteps = [
  suite({
    title: `fuzz for ${fuzzSeconds} s`,
    folder: 'node/test/conformance',
    env: { FUZZ_SECONDS: String(fuzzSeconds) },
    extraSeconds: fuzzSeconds,
  }),
];
