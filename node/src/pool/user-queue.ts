/** Task queues as piscina has them, for the user to build on and to bring along, and the balancer that a user may bring. */
import { MillraceError } from '../errors.js';
import { queueOptionsSymbol } from './movable.cjs';
import type { Task } from './task.js';
import type { PoolWorker } from './thread.js';
import type { Waiting } from './waiting.js';

/** A task as the queue or the balancer of a user sees it. */
export interface PoolTask {
  readonly taskId: number;
  readonly filename: string;
  readonly name: string;
  /** When `run()` was called, by `performance.now()`. */
  readonly created: number;
  readonly isAbortable: boolean;
  /** The `[queueOptionsSymbol]` of the task's argument. */
  readonly [queueOptionsSymbol]: object | null;
}

/** A user's queue. `remove` is called for tasks that are in it, `shift` when it is not empty. */
export interface TaskQueue {
  readonly size: number;
  shift(): PoolTask | null;
  push(task: PoolTask): void;
  remove(task: PoolTask): void;
  /** For tasks that were taken and could not be run; without it they are pushed. */
  unshift?(task: PoolTask): void;
}

/**
 * Which worker gets a task; null for none of them: then another starts if there may be more, or the task waits. Workers have
 * `currentUsage`, which says how busy they are.
 */
export type LoadBalancer = (task: PoolTask, workers: PoolWorker[]) => PoolWorker | null;

export function isTaskQueue(value: unknown): value is TaskQueue {
  if (typeof value !== 'object' || value === null || !('size' in value)) return false;
  const queue = value as TaskQueue;
  return [queue.shift, queue.push, queue.remove].every((each) => typeof each === 'function');
}

/** First in, first out, on an array. */
export class ArrayTaskQueue implements TaskQueue {
  readonly tasks: PoolTask[] = [];

  get size(): number {
    return this.tasks.length;
  }

  shift(): PoolTask | null {
    return this.tasks.shift() ?? null;
  }

  push(task: PoolTask): void {
    this.tasks.push(task);
  }

  unshift(task: PoolTask): void {
    this.tasks.unshift(task);
  }

  remove(task: PoolTask): void {
    const index = this.tasks.indexOf(task);
    if (index === -1) {
      throw new MillraceError('MILLRACE_E_INVALID_ARGUMENT', 'the task is not in this queue');
    }
    this.tasks.splice(index, 1);
  }
}

interface Place {
  readonly task: PoolTask | null;
  previous: Place;
  next: Place;
}

/** An empty ring: the place before the first task and behind the last. */
function newRing(): Place {
  const end = { task: null } as Place;
  end.previous = end;
  end.next = end;
  return end;
}

/**
 * First in, first out; each operation takes the same time however many wait. Removing what is not in it does nothing, nor does
 * adding what already is.
 */
export class FixedQueue implements TaskQueue {
  readonly #end = newRing();
  readonly #places = new Map<PoolTask, Place>();

  get size(): number {
    return this.#places.size;
  }

  isEmpty(): boolean {
    return this.size === 0;
  }

  shift(): PoolTask | null {
    const first = this.#end.next.task;
    if (first !== null) this.remove(first);
    return first;
  }

  push(task: PoolTask): void {
    this.#insert(task, this.#end.previous);
  }

  unshift(task: PoolTask): void {
    this.#insert(task, this.#end);
  }

  remove(task: PoolTask): void {
    const place = this.#places.get(task);
    if (place === undefined) return;
    this.#places.delete(task);
    place.previous.next = place.next;
    place.next.previous = place.previous;
  }

  #insert(task: PoolTask, previous: Place): void {
    if (this.#places.has(task)) return;
    const { next } = previous;
    const place = { task, previous, next };
    previous.next = place;
    next.previous = place;
    this.#places.set(task, place);
  }
}

/** The user's queue, in which only it knows whose turn it is: tasks leave it one by one, when a worker is free. */
export class UserWaiting implements Waiting {
  readonly #queue: TaskQueue;

  constructor(queue: TaskQueue) {
    this.#queue = queue;
  }

  get size(): number {
    return this.#queue.size;
  }

  push(task: Task): void {
    this.#queue.push(task);
  }

  remove(task: Task): void {
    this.#queue.remove(task);
  }

  putBack(tasks: readonly Task[]): void {
    const queue = this.#queue;
    if (queue.unshift) for (const task of tasks.toReversed()) queue.unshift(task);
    else for (const task of tasks) queue.push(task);
  }

  head(): null {
    return null;
  }

  take(): Task[] {
    const task = this.#queue.shift();
    return task === null ? [] : [task as Task];
  }

  sizes(): [number, number, number] {
    return [0, this.#queue.size, 0];
  }
}
