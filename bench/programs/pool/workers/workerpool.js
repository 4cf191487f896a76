import workerpool from 'workerpool';
import * as tasks from './tasks.js';

workerpool.worker({
  ...tasks,
  give: (bytes) => new workerpool.Transfer(tasks.echo(bytes), [bytes.buffer]),
});
