import fs from 'node:fs';
import { batch } from 'millrace';
import { features } from 'millrace/auto';
import { Rooms } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { run } from '../../run.mjs';

export const dynamic = 'force-dynamic';

export async function GET() {
  return Response.json(await run({ batch, Rooms, WebSocket, WebSocketServer, features, fs }));
}
