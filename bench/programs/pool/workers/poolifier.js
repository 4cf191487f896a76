import { ThreadWorker } from 'poolifier';
import * as tasks from './tasks.js';

/** Clones results: poolifier cannot transfer them. */
export default new ThreadWorker({ ...tasks, give: tasks.echo });
