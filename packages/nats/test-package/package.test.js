import { install } from '../../../scripts/lib/installed.js';
import { built, testPackage } from '../../../scripts/lib/package-test.js';

await testPackage('@millrace/nats', {
  installation: await install('@millrace/nats', { args: ['--ignore-scripts'] }),
  contents: [...built, /^bin\/millrace-worker\.js$/],
});
