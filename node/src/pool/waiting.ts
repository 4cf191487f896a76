/**
 * Tasks that wait for a worker. The priority decides, and waiting counts: a task that has waited `aging` ms for each priority
 * that is above it has aged, and such tasks get one place in four. Within a priority the functions share the time of the workers, so that short tasks do not stand behind all the
 * long ones that came before them; the tasks of a function go in order.
 */
import { agedClass, agedEvery } from './aging.js';
import type { Lane, Task } from './task.js';

/** HIGH, NORMAL, LOW. */
const classCount = 3;

/** How long a task is assumed to take until its function has been measured, in ms. */
const unknownMs = 1;

/** Where tasks wait; a user's queue is wrapped to look like this. */
export interface Waiting {
  readonly size: number;
  push(task: Task): void;
  remove(task: Task): void;
  /** Back in front of the others: tasks that were sent, and not begun. */
  putBack(tasks: readonly Task[]): void;
  /** The task whose turn it is; null if that cannot be told before it is taken. */
  head(nowMs: number): Task | null;
  /**
   * The task whose turn it is, and up to `limit(it, how many wait in its lane)` in all with those that come after it there.
   * `beside`: they will run beside one another, which a task that is guarded does not.
   */
  take(nowMs: number, limit: (head: Task, waiting: number) => number, beside: boolean): Task[];
  sizes(): [number, number, number];
}

class PriorityLanes {
  readonly lanes: Lane[] = [];
  size = 0;
  /** Of the lane that was served last; one that was empty starts here. */
  servedMs = 0;

  get oldestMs(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : oldestOf(this.lanes).head.created;
  }
}

export class FairWaiting implements Waiting {
  readonly #classes = Array.from({ length: classCount }, () => new PriorityLanes());
  readonly #agingMs: number;
  /** Tasks since one that had aged had its turn. */
  #sinceAged = agedEvery;
  size = 0;

  constructor(agingMs: number) {
    this.#agingMs = agingMs;
  }

  push(task: Task): void {
    const lane = this.#laneOf(task);
    lane.push(task);
    this.#added(task, lane, 1);
  }

  putBack(tasks: readonly Task[]): void {
    const byLane = new Map<Lane, Task[]>();
    for (const task of tasks) {
      const lane = this.#laneOf(task);
      const others = byLane.get(lane);
      if (others) others.push(task);
      else byLane.set(lane, [task]);
    }
    for (const [lane, returned] of byLane) {
      lane.unshift(returned);
      lane.servedMs -= returned.length * (lane.of.meanMs ?? unknownMs);
      this.#added(returned[0]!, lane, returned.length);
    }
  }

  remove(task: Task): void {
    const lane = this.#laneOf(task);
    lane.remove(task);
    this.#removed(task.priority, lane, 1);
  }

  head(nowMs: number): Task | null {
    return this.size === 0 ? null : this.#next(nowMs).head;
  }

  take(nowMs: number, limit: (head: Task, waiting: number) => number, beside: boolean): Task[] {
    const lane = this.#next(nowMs);
    const { head } = lane;
    const tasks = lane.take(limit(head, lane.size), beside);
    const { lanes } = this.#classes[head.priority]!;
    this.#sinceAged = this.#isHighest(head) ? this.#sinceAged + tasks.length : 0;
    this.#classes[head.priority]!.servedMs = leastServed(lanes).servedMs;
    lane.servedMs += tasks.length * (lane.of.meanMs ?? unknownMs);
    this.#removed(head.priority, lane, tasks.length);
    return tasks;
  }

  sizes(): [number, number, number] {
    const [high, normal, low] = this.#classes;
    return [high!.size, normal!.size, low!.size];
  }

  #isHighest({ priority }: Task): boolean {
    for (let higher = 0; higher < priority; higher++) {
      if (this.#classes[higher]!.size > 0) return false;
    }
    return true;
  }

  #laneOf(task: Task): Lane {
    return task.of.lanes[task.priority];
  }

  #added(task: Task, lane: Lane, count: number): void {
    const of = this.#classes[task.priority]!;
    of.size += count;
    this.size += count;
    if (lane.listed) return;
    lane.listed = true;
    of.lanes.push(lane);
    if (lane.servedMs < of.servedMs) lane.servedMs = of.servedMs;
  }

  #removed(priority: number, lane: Lane, count: number): void {
    const of = this.#classes[priority]!;
    of.size -= count;
    this.size -= count;
    if (lane.size > 0) return;
    lane.listed = false;
    of.lanes.splice(of.lanes.indexOf(lane), 1);
  }

  /** The lane whose turn it is: one of the highest priority, or one that has aged. */
  #next(nowMs: number): Lane {
    const classes = this.#classes;
    const highest = classes.find(hasTasks)!;
    if (highest.size < this.size && this.#sinceAged >= agedEvery - 1) {
      const aged = agedClass(classes, nowMs, this.#agingMs);
      if (aged >= 0) return oldestOf(classes[aged]!.lanes);
    }
    return leastServed(highest.lanes);
  }
}

const hasTasks = ({ size }: PriorityLanes): boolean => size > 0;

function leastServed(lanes: readonly Lane[]): Lane {
  let least = lanes[0]!;
  for (let index = 1; index < lanes.length; index++) {
    if (lanes[index]!.servedMs < least.servedMs) least = lanes[index]!;
  }
  return least;
}

function oldestOf(lanes: readonly Lane[]): Lane {
  let oldest = lanes[0]!;
  for (let index = 1; index < lanes.length; index++) {
    if (lanes[index]!.head.created < oldest.head.created) oldest = lanes[index]!;
  }
  return oldest;
}
