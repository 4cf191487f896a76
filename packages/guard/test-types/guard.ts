// guard() and guardMiddleware() as their users' compilers see them.
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createSecure } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import {
  type ByClass,
  type ClassStats,
  type CountByReason,
  Guard,
  type GuardableServer,
  type GuardMiddleware,
  type GuardOptions,
  type GuardSettings,
  type GuardStats,
  guard,
  guardMiddleware,
  loadSettings,
  type Rejection,
  type RequestClass,
  type RouteStats,
  type ShedInfo,
  type ShedReason,
} from '@millrace/guard';
import connect from 'connect';
import express from 'express';

// servers
const servers: GuardableServer[] = [createServer(), createSecure(), createSecureServer()];
const g: Guard = guard(createServer());
guard(createSecure(), g);
// @ts-expect-error: it has no requests
guard(createTcpServer());

// options
const classes: RequestClass[] = ['high', 'normal', 'low'];
const byClass: Partial<ByClass> = { high: 300, low: 150 };
const options: GuardOptions = {
  classes: { 'POST /checkout': 'high', '/reports/*': 'low', '/health': 'exempt' },
  classHeader: 'x-priority',
  maxWait: byClass,
  maxQueue: 1000,
  retryAfter: 'auto',
  rejectDelay: 25,
  slice: 10,
};
new Guard({ ...options, maxWait: 300 });
// @ts-expect-error: no such option
guard(createServer(), { maxWaits: 300 });
// @ts-expect-error: no such class
guard(createServer(), { classes: { '/': 'urgent' } });
guard(createServer(), {
  onShed: ({ req, route, class: cls, reason }: ShedInfo) => [req.url, route, cls, reason],
});

// middleware
const middleware: GuardMiddleware = guardMiddleware(g);
express().use(middleware, guardMiddleware({ classHeader: 'x-priority' }));
connect().use(middleware);

// what it tells
const stats: GuardStats = g.stats();
const high: ClassStats = stats.classes.high;
const shed: CountByReason = high.shed;
const reasons = Object.keys(shed) as ShedReason[];
const routes: readonly RouteStats[] = stats.routes;
const pressure: boolean = g.underPressure || g.closed;
const rejection: Pick<Rejection, 'reason'> = { reason: reasons[0]! };
g.close();

// settings
const settings: Promise<GuardSettings> = loadSettings('millrace.json');
loadSettings({ server: { healthCheck: true } });
// @ts-expect-error: a path, or what was parsed
loadSettings(5);

void [servers, classes, high, routes, pressure, rejection, settings];
