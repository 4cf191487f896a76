/**
 * The run queue: tasks that no worker has.
 *
 * `FairQueue` decides whose turn it is in two steps. The priority comes first, and waiting counts, so that no task starves: see
 * `Aging`. Within a priority the functions share the time of the workers (the one whose tasks have had the least is next), so
 * that short tasks do not stand behind all the long ones that came before them. The tasks of a function go in order. Only the
 * scheduler pushes and takes; a task is in the queue once, or not at all.
 *
 * `UserQueue` wraps the queue of a user, in the shape that piscina gives it.
 */
import { Aging } from '@millrace/base/aging';
import { MillraceError } from '@millrace/base/errors';
import { queueOptionsSymbol } from '@millrace/base/movable';
import type { PriorityClass } from '@millrace/base/priority';
import type { FunctionQueue, Task } from './task.js';

/** Assumed run time of a task until its function has been measured, in ms. */
const unknownMs = 1;

/** Tasks that wait for a worker. */
export interface RunQueue {
  readonly size: number;
  push(task: Task): void;
  remove(task: Task): void;
  /** Back in front of the others: tasks that were sent, and not begun. */
  putBack(tasks: readonly Task[]): void;
  /** The task whose turn it is; null if that cannot be told before it is taken. */
  head(nowMs: number): Task | null;
  /**
   * The task whose turn it is, and up to `limit(it, how many wait in its queue)` in all with those that come after it there.
   * `beside`: they will run beside one another, which a task that is guarded does not.
   */
  take(nowMs: number, limit: (head: Task, waiting: number) => number, beside: boolean): Task[];
  sizes(): [number, number, number];
}

class PriorityQueues {
  readonly queues: FunctionQueue[] = [];
  size = 0;
  /** Time of the queue that was served last; one that was empty starts here. */
  servedMs = 0;
}

export class FairQueue implements RunQueue {
  /** HIGH, NORMAL, LOW. */
  readonly #classes = [new PriorityQueues(), new PriorityQueues(), new PriorityQueues()] as const;
  readonly #aging: Aging;
  size = 0;

  constructor(agingMs: number) {
    this.#aging = new Aging(agingMs);
  }

  push(task: Task): void {
    const queue = this.#queueOf(task);
    queue.push(task);
    this.#added(task, queue, 1);
  }

  putBack(tasks: readonly Task[]): void {
    const byQueue = new Map<FunctionQueue, Task[]>();
    for (const task of tasks) {
      const queue = this.#queueOf(task);
      const others = byQueue.get(queue);
      if (others) others.push(task);
      else byQueue.set(queue, [task]);
    }
    for (const [queue, returned] of byQueue) {
      queue.unshift(returned);
      queue.servedMs -= returned.length * (queue.fn.meanMs ?? unknownMs);
      this.#added(returned[0]!, queue, returned.length);
    }
  }

  remove(task: Task): void {
    const queue = this.#queueOf(task);
    queue.remove(task);
    this.#removed(task.priority, queue, 1);
  }

  head(nowMs: number): Task | null {
    return this.size === 0 ? null : this.#next(nowMs).head;
  }

  take(nowMs: number, limit: (head: Task, waiting: number) => number, beside: boolean): Task[] {
    const queue = this.#next(nowMs);
    const { head } = queue;
    const tasks = queue.take(limit(head, queue.size), beside);
    const ofClass = this.#classes[head.priority];
    this.#aging.took(tasks.length, ofClass === this.#highest);
    ofClass.servedMs = leastServed(ofClass.queues).servedMs;
    queue.servedMs += tasks.length * (queue.fn.meanMs ?? unknownMs);
    this.#removed(head.priority, queue, tasks.length);
    return tasks;
  }

  sizes(): [number, number, number] {
    const [high, normal, low] = this.#classes;
    return [high.size, normal.size, low.size];
  }

  /** The highest class with tasks. */
  get #highest(): PriorityQueues {
    const [high, normal, low] = this.#classes;
    if (high.size > 0) return high;
    return normal.size > 0 ? normal : low;
  }

  #queueOf(task: Task): FunctionQueue {
    return task.fn.queues[task.priority];
  }

  #added(task: Task, queue: FunctionQueue, count: number): void {
    const ofClass = this.#classes[task.priority];
    ofClass.size += count;
    this.size += count;
    if (queue.listed) return;
    queue.listed = true;
    ofClass.queues.push(queue);
    if (queue.servedMs < ofClass.servedMs) queue.servedMs = ofClass.servedMs;
  }

  #removed(priority: PriorityClass, queue: FunctionQueue, count: number): void {
    const ofClass = this.#classes[priority];
    ofClass.size -= count;
    this.size -= count;
    if (queue.size > 0) return;
    queue.listed = false;
    ofClass.queues.splice(ofClass.queues.indexOf(queue), 1);
  }

  /** The queue whose turn it is: one of the highest priority, or one that has aged. */
  #next(nowMs: number): FunctionQueue {
    const highest = this.#highest;
    if (highest.size === this.size) return leastServed(highest.queues);
    const next = this.#classes[this.#aging.next(nowMs, this.#oldestMs)!];
    return next === highest ? leastServed(next.queues) : oldestOf(next.queues);
  }

  readonly #oldestMs = (priority: PriorityClass): number => {
    const { size, queues } = this.#classes[priority];
    return size === 0 ? Number.POSITIVE_INFINITY : oldestOf(queues).head.created;
  };
}

function leastServed(queues: readonly FunctionQueue[]): FunctionQueue {
  let least = queues[0]!;
  for (let index = 1; index < queues.length; index++) {
    if (queues[index]!.servedMs < least.servedMs) least = queues[index]!;
  }
  return least;
}

function oldestOf(queues: readonly FunctionQueue[]): FunctionQueue {
  let oldest = queues[0]!;
  for (let index = 1; index < queues.length; index++) {
    if (queues[index]!.head.created < oldest.head.created) oldest = queues[index]!;
  }
  return oldest;
}

/** Task, as the user's own queue or balancer sees it. */
export interface PoolTask {
  readonly taskId: number;
  readonly filename: string;
  readonly name: string;
  /** Time of the call of `run()`, by `performance.now()`. */
  readonly created: number;
  readonly isAbortable: boolean;
  /** `[queueOptionsSymbol]` of the task's argument. */
  readonly [queueOptionsSymbol]: object | null;
}

/** Queue of the user. `remove` is called for tasks in it, `shift` when it is not empty. */
export interface TaskQueue {
  readonly size: number;
  shift(): PoolTask | null;
  push(task: PoolTask): void;
  remove(task: PoolTask): void;
  /** Puts back tasks that were taken and could not be run; without it they are pushed. */
  unshift?(task: PoolTask): void;
}

export function isTaskQueue(value: unknown): value is TaskQueue {
  if (typeof value !== 'object' || value === null || !('size' in value)) return false;
  const queue = value as TaskQueue;
  return [queue.shift, queue.push, queue.remove].every((each) => typeof each === 'function');
}

/** First-in, first-out queue on an array. */
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
 * First-in, first-out queue; each operation is O(1). Removing a task that is not in it does nothing, nor does adding one that
 * is.
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
export class UserQueue implements RunQueue {
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
