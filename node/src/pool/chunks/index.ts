export {
  type FileChunk,
  type FileChunksOptions,
  fileChunks,
} from './file-chunks.js';
export {
  type ByteSource,
  type LineChunk,
  type LineChunksOptions,
  lineChunks,
} from './line-chunks.js';
