/**
 * Preloaded (`node --import`) before a program that uses ws, which it leaves as it is: `install(WebSocket)` first. Options of
 * `install` are in INSTALL_OPTIONS, as JSON.
 */
import { install } from 'millrace/ws';
import { WebSocket } from 'ws';
import { answers } from './tell.js';

const installation = install(WebSocket, JSON.parse(process.env.INSTALL_OPTIONS ?? '{}'));

answers.installed = () => {
  const { frames, writes, backend } = installation.stats();
  return { deliveries: frames, writes, backend };
};
