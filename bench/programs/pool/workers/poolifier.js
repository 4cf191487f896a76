import { ThreadWorker } from 'poolifier';
import * as tasks from './tasks.js';

/** It has no way to transfer a result: what it gives back is cloned. */
export default new ThreadWorker({ ...tasks, give: tasks.echo });
