/** The options of `millrace-worker` that run no task: they print the lag and the dead letters, or turn dead letters into tasks again. */
import { print, Refusal } from '@millrace/base/command';
import type { BrokerOptions } from '../options.js';
import { TaskOperator } from '../tasks/operator.js';
import type { QueueLag } from '../tasks/streams.js';

/** Prints the lag or the dead letters, or makes tasks of them again. Rejects with a Refusal when there is no such stream. */
export async function operate(
  what: string,
  broker: string | BrokerOptions,
  stream: string,
  isJson: boolean,
): Promise<void> {
  const operator = new TaskOperator(broker, stream);
  try {
    if (what === 'lag') await printLag(operator, isJson);
    else if (what === 'dead') await printDead(operator, isJson);
    else {
      const count = await operator.retryDead();
      print(
        isJson
          ? JSON.stringify({ retried: count })
          : `${count} dead letter${count === 1 ? ' is a task' : 's are tasks'} again`,
      );
    }
  } catch (error) {
    if (!/stream not found/.test((error as Error).message)) throw error;
    throw new Refusal(
      `there is no stream ${stream} of tasks; the first client or worker creates it.`,
    );
  } finally {
    await operator.close();
  }
}

async function printLag(operator: TaskOperator, isJson: boolean): Promise<void> {
  const lag = await operator.lag();
  if (isJson) {
    print(JSON.stringify(lag));
    return;
  }
  const { dead, ...queues } = lag;
  const row = (...cells: unknown[]) => cells.map((cell) => String(cell).padStart(16)).join('');
  print(`priority${row('pending', 'unacknowledged', 'redelivered')}`);
  for (const [name, queue] of Object.entries(queues) as [string, QueueLag][]) {
    const { pending, unacknowledged, redelivered } = queue;
    print(`${name.padEnd(8)}${row(pending, unacknowledged, redelivered)}`);
  }
  print(`dead letters: ${dead}`);
}

async function printDead(operator: TaskOperator, isJson: boolean): Promise<void> {
  let count = 0;
  for await (const letter of operator.dead()) {
    count++;
    if (isJson) print(JSON.stringify(letter));
    else {
      const { at, reason, id, name, deliveries, error } = letter;
      print(
        `${at} ${reason}: ${id} ${name === '' ? '' : `(${name}) `}after ${deliveries}: ${error}`,
      );
    }
  }
  if (!isJson) print(`dead letters: ${count}`);
}
