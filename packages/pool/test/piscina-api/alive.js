/** A process in which nothing goes on but a call that waits for a worker whose task is nobody's any more. */
import { Pool } from '@millrace/pool';

const pool = new Pool({ filename: new URL('./tasks.js', import.meta.url), maxThreads: 1 });
const controller = new AbortController();
// Beside what can be aborted nothing else runs.
const options = { signal: controller.signal };
pool.run('first', options).catch(({ code }) => console.log(code));
pool.run('second', options).catch(({ code }) => console.log(code));
pool.run('third', { signal: new AbortController().signal }).then(console.log);
controller.abort();
