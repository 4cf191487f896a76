import { latency, value } from '@millrace/lab/metrics';
import { FILE_ID } from './chat/file.js';
import { coresInUse, cpuPerMessage, switches } from './chat/metrics.js';
import { FILES, SOURCE } from './chat/paper.js';
import { arms, httpClients, SIZE } from './chat/service.js';

// A download saves no message that could share a commit.
const { direct, adaptive } = arms({ stocked: true, gathers: false });

export const question = 'How many files a second can be sent to the chat, and be had from it?';

export const about =
  'Closed loop by autocannon. An upload is streamed to a file of its own, written to the disk (fsync) and renamed, and told ' +
  'to its room by a message that is saved: in all arms. What `adaptive` shares is the commit of those messages. A download ' +
  'is looked up in SQLite and read from the page cache: `adaptive` reads with millrace/fs. The paper gives a gain of file ' +
  'handling and does not say what was done with which files; the experiment files has the operations alone. ' +
  `Fixed holds are left out. ${SIZE}`;

export const claim = {
  text: 'File handling throughput +294.32 %, in the chat',
  source: `${SOURCE}, section 7.10`,
  metric: 'files_per_s',
  atLeast: FILES,
};

export const control = direct;

export const treatment = adaptive;

export const load = {
  ...httpClients,
  requests: ({ request }) => [request],
  // The id of a message and that of a file.
  normalize: ({ label }) =>
    label.startsWith('upload') ? /\d{7}|(?<=["/])[\w-]{22}(?=")/ : undefined,
};

const upload = (bytes) => ({
  method: 'POST',
  path: '/api/rooms/lobby/files?from=somebody&name=file',
  headers: { 'content-type': 'application/octet-stream' },
  body: 'x'.repeat(bytes),
});

export const cases = [
  { label: 'upload 4 KB', request: upload(4096) },
  { label: 'upload 100 KB', request: upload(102_400), from: 'paper' },
  { label: 'download 4 KB', request: { method: 'GET', path: `/api/rooms/shelf/files/${FILE_ID}` } },
];

export const metrics = [
  {
    ...{ name: 'files_per_s', title: 'files', unit: '1/s', better: 'higher' },
    of: value('answers_per_s'),
  },
  { ...cpuPerMessage, name: 'cpu_us_per_file', title: 'CPU per file' },
  { ...switches, name: 'switches_per_file', title: 'context switches per file' },
  {
    ...{ name: 'p50_ms', title: 'latency, median', unit: 'ms', better: 'lower' },
    of: latency('p50'),
  },
  coresInUse,
];
