import { fileURLToPath } from 'node:url';
import express from 'express';

const app = express();
app.get('/health', (_request, response) => response.send('ok\n'));
app.use(express.static(fileURLToPath(new URL('../pages', import.meta.url))));

const server = app.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
