import { Readable } from 'node:stream';

import { AppError, badInput } from '../../../../platform/errors.ts';
import { newId } from '../../../../platform/ids.ts';
import type { FileService, NewFile, StoredFile } from '../../files/files.ts';

export type MemoryFiles = FileService & {
  readonly stored: Map<string, StoredFile & { readonly content: Buffer }>;
  /** How many more files are refused, as by an unavailable object store. */
  unavailable: number;
};

/** Files in memory: the engine only needs the contract. */
export function memoryFiles(): MemoryFiles {
  const stored: MemoryFiles['stored'] = new Map();
  const refuse = () => {
    throw new AppError('INTERNAL', 'not part of these tests');
  };
  const files: MemoryFiles = {
    stored,
    unavailable: 0,
    store: (file) => store(files, file),
    list: refuse,
    byBlake3: refuse,
    byIds: async (ids) => ids.map((id) => stored.get(id) ?? null),
    opens: () => true,
    async claim(_transaction, ids) {
      if (ids.some((id) => !stored.has(id))) throw badInput('fileId', 'no such file');
    },
    async attach(_transaction, ids, { id: taskId }) {
      for (const id of ids) {
        const row = stored.get(id);
        if (row) stored.set(id, { ...row, taskId });
      }
    },
    async open(id, range) {
      const content = stored.get(id)?.content ?? Buffer.alloc(0);
      return Readable.from([range === undefined ? content : content.subarray(range.start, range.end + 1)]);
    },
    idOfUrl: () => null,
    formatUrl: (file) => `http://files/${file.id}`,
    shares: { share: refuse, list: async () => [], revoke: refuse },
    formatThumbnailUrl: () => null,
    formatSpritesheetUrl: () => null,
    remove: refuse,
    prune: async () => 0,
  };
  return files;
}

/** What is known of an uploaded image of one pixel. */
export const ONE_PIXEL = {
  sha256: '',
  blake3: null,
  width: 1,
  height: 1,
  duration: null,
  taskId: null,
} as const;

async function store(files: MemoryFiles, file: NewFile) {
  if (files.unavailable > 0) {
    files.unavailable -= 1;
    throw new AppError('UNAVAILABLE', 'the object storage does not answer');
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.body) chunks.push(chunk);
  const content = Buffer.concat(chunks);
  if (content.length > file.maxBytes) throw new AppError('PAYLOAD_TOO_LARGE', 'too large');
  const row = {
    id: newId(),
    owner: file.owner,
    name: file.name,
    contentType: detectType(content),
    bytes: content.length,
    ...ONE_PIXEL,
    createdAt: new Date(),
    content,
  };
  files.stored.set(row.id, row);
  return row;
}

/** How the files of the tests begin. */
function detectType(content: Buffer): string {
  if (content.toString('latin1', 1, 4) === 'PNG') return 'image/png';
  if (content.toString('latin1', 4, 8) === 'ftyp') return 'video/mp4';
  return content[0] === 0xff && (content[1] ?? 0) >= 0xe0 ? 'audio/mpeg' : 'text/html';
}
