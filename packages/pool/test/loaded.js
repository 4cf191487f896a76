// Prints the files of the package that `import '@millrace/pool'` loads.
import { watchRoute } from '../../base/test/route.js';

const end = watchRoute();
await import('@millrace/pool');
console.log(JSON.stringify(end()));
