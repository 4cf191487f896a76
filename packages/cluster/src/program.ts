/** Entry of the processes of `serve(file)`: loads the file of the application. */
import { pathToFileURL } from 'node:url';
import { foreign, takeOrders, work } from './worker.js';

const orders = takeOrders();
if (orders?.file == null) throw foreign();
const { file } = orders;

// As if it had been started by itself.
process.argv[1] = file;

await work(orders, async () => {
  const loaded = (await import(pathToFileURL(file).href)) as { default?: unknown };
  const { default: app } = loaded;
  // What compilers make of a default export for CommonJS.
  const inner = app as { __esModule?: boolean; default?: unknown } | null | undefined;
  return inner?.__esModule === true ? inner.default : app;
});
