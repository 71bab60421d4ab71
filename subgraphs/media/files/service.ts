import { mayChange, mayRead, type Caller } from '../../../platform/access/caller.ts';
import { isManageToken } from '../../../platform/access/manage-token.ts';
import { batchReads } from '../../../platform/database/batched-reads.ts';
import { AppError, badInput, notFound } from '../../../platform/errors.ts';
import { distinctIds, isUuid, newId } from '../../../platform/ids.ts';
import { measureMedia, typeOfHead, TYPE_BYTES } from '../../../platform/object-store/measure/measure.ts';
import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import { peek } from '../../../platform/object-store/streams.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { MediaDatabase } from '../database/database.ts';
import { hashedBody } from './blake3.ts';
import { formatDisposition } from './file-headers.ts';
import type { FileAccess, FileService, NewFile, StoredFile } from './files.ts';
import { listFiles } from './list.ts';
import {
  createSigner,
  readIdInPath,
  formatObjectKey,
  formatFilePath,
  plainType,
  storedName,
} from './names.ts';
import { discard, type FileParts, pruneFiles, removeFile } from './removal.ts';
import { createShareService, mediaOfShare, pruneShares, createShares } from './shares.ts';
import {
  insertFile,
  completeFile,
  fileByBlake3,
  attachFiles,
  claimFiles,
  locateFile,
  readFiles,
  type FileRow,
} from './store.ts';
import { SHEET_NAME, findThumbnailKind, thumbnailName } from './thumbnails/sizes.ts';

export interface FileServiceOptions {
  readonly database: MediaDatabase;
  readonly store: ObjectStore;
  /** Address that callers use, without a trailing slash; may carry a path prefix. */
  readonly publicUrl: string;
  /** Address of a CDN in front of the object store or of PUBLIC_URL, without a trailing slash; null when there is none. */
  readonly cdnBaseUrl: string | null;
  /** Seconds that addresses stay valid; 0 forever. */
  readonly urlTtlSeconds: number;
  /** Signs expiring addresses; the same in every process. */
  readonly secret: string;
  /** Days that files are kept; 0 (default) forever. */
  readonly retentionDays?: number;
  /** Days that uploads of callers without a credential are kept, unless work uses them; 0 (default) forever. */
  readonly anonymousDays?: number;
  /** Whether whoever knows the id of nobody's file may delete it: open mode on loopback. */
  readonly anyoneDeletes?: boolean;
  /** Most addresses of one caller to be passed on (default 1,000). */
  readonly shareLimit?: number;
  readonly logger: Logger;
  /** Milliseconds since 1970; the system's clock when absent. */
  readonly clock?: () => number;
}

const SHARES = 1_000;
const TEMPORARY_MS = 3_600_000;
/** Longest time of one upload; later the pruner removes it. */
const INCOMING_MS = 24 * TEMPORARY_MS;
const DAY_MS = 86_400_000;

/** Files: bytes in the object store, facts in the database, addresses that never change. */
export function createFileService(options: FileServiceOptions): FileService & FileAccess {
  const {
    database,
    store,
    publicUrl,
    cdnBaseUrl,
    urlTtlSeconds,
    secret,
    retentionDays = 0,
    anonymousDays = 0,
    anyoneDeletes = false,
    logger,
  } = options;
  const clock = options.clock ?? Date.now;
  const signer = createSigner({ secret, ttlSeconds: urlTtlSeconds, clock });
  const admits = (id: string, query: URLSearchParams) => urlTtlSeconds === 0 || signer.verify(id, query);
  const parts: FileParts = { database, store, logger, clock };
  const ownUrl = (id: string, name: string) =>
    `${publicUrl}${formatFilePath(id, name)}${urlTtlSeconds === 0 ? '' : `?${signer.sign(id)}`}`;

  const read = reading(parts);
  const opens = (caller: Caller, file: StoredFile) => opensFile({ urlTtlSeconds, clock }, caller, file);
  return {
    ...read,
    admits,
    ...sharing({ ...options, clock }, { byIds: read.byIds, opens }),
    store: (file) => storeFile(parts, file, anonymousDays),
    async byBlake3({ kind, id: owner }, blake3) {
      // Nobody's files are nobody else's to find, but where everybody is the one user of this machine.
      if (kind === 'anonymous' && !anyoneDeletes) return null;
      return (await fileByBlake3(database, { owner, blake3: blake3.toLowerCase() })) ?? null;
    },
    list: (caller, filter, page) => listFiles(database, caller, { filter, ...page }),
    opens,
    ...linking(),
    idOfUrl(url) {
      const parsed = URL.parse(url);
      if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) return null;
      const id = readIdInPath(parsed.pathname);
      return id !== null && admits(id, parsed.searchParams) ? id : null;
    },
    formatUrl({ id, name }, { cdn = false } = {}) {
      return cdn && cdnBaseUrl !== null ? `${cdnBaseUrl}${formatFilePath(id, name)}` : ownUrl(id, name);
    },
    formatThumbnailUrl: ({ id, contentType }, width) =>
      findThumbnailKind(contentType) === null ? null : ownUrl(id, thumbnailName(width)),
    formatSpritesheetUrl: ({ id, contentType }) =>
      findThumbnailKind(contentType) === 'video' ? ownUrl(id, SHEET_NAME) : null,
    remove(caller, id, manageToken = null) {
      const isMaker = (row: FileRow) => anyoneDeletes || isManageToken(manageToken, row.manageTokenHash);
      return removeFile(parts, id, (row) => mayChange(caller, row.owner, () => isMaker(row)));
    },
    async prune(limit) {
      await pruneShares(database, new Date(clock()), limit);
      return pruneFiles(parts, retentionDays, limit);
    },
  };
}

/** What ties files to the work that uses or makes them. */
function linking(): Pick<FileService, 'claim' | 'attach'> {
  return {
    async claim(transaction, ids, owner) {
      const wanted = distinctIds(ids);
      if ((await claimFiles(transaction, wanted.filter(isUuid), owner)) < wanted.length)
        throw badInput('fileId', 'one of these files is not here (any more): upload it again');
    },
    async attach(transaction, ids, task) {
      const wanted = distinctIds(ids);
      if ((await attachFiles(transaction, wanted, task)) < wanted.length)
        throw new AppError('INTERNAL', `a result of task ${task.id} is not stored any more`);
    },
  };
}

/** Addresses to be passed on, and what they stand for. */
function sharing(
  options: FileServiceOptions & { readonly clock: () => number },
  files: Pick<FileService, 'byIds' | 'opens'>,
): Pick<FileService & FileAccess, 'shares' | 'shared'> {
  const { database, shareLimit: limit = SHARES } = options;
  const shares = createShares(options);
  return {
    shares: createShareService({ ...options, files, shares, limit }),
    async shared(token) {
      const opened = shares.open(token);
      if (opened === null || opened === 'ended') return opened;
      // Addresses of earlier releases stand for the file itself.
      const id = (await mediaOfShare(database, opened.id)) ?? opened.id;
      return (await locateFile(database, id)) ?? null;
    },
  };
}

/** Says who may use a file by its id (files.ts). */
function opensFile(
  { urlTtlSeconds, clock }: { readonly urlTtlSeconds: number; readonly clock: () => number },
  caller: Caller,
  { owner, createdAt }: StoredFile,
): boolean {
  if (urlTtlSeconds === 0) return true;
  if (owner !== 'anon') return mayRead(caller, owner);
  return clock() < createdAt.getTime() + urlTtlSeconds * 1_000;
}

function reading({
  database,
  store,
}: FileParts): Pick<FileService & FileAccess, 'byIds' | 'locate' | 'open'> {
  const locate = async (id: string) => (await locateFile(database, id)) ?? null;
  const readShared = batchReads({ read: (ids) => readFiles(database, ids), readId: ({ id }) => id });
  return {
    locate,
    async byIds(ids) {
      const wanted = ids.map((id) => id.toLowerCase());
      const byId = await readShared(wanted.filter(isUuid));
      return wanted.map((id) => byId.get(id) ?? null);
    },
    async open(id, range) {
      const found = await locate(id);
      if (found === null) throw notFound('file', id);
      return store.get(found.objectKey, range);
    },
  };
}

async function storeFile(parts: FileParts, file: NewFile, anonymousDays: number): Promise<StoredFile> {
  const { database, store, clock } = parts;
  const { declaredType, maxBytes, signal } = file;
  // The key is part of the address and never changes, so the extension must be known before the first byte is stored.
  const { head, whole } = await peek(file.body, TYPE_BYTES, signal);
  const id = file.id ?? newId();
  const seenType = await typeOfHead(head);
  const name = storedName(file.name, seenType ?? declaredType);
  const contentType = seenType ?? plainType(declaredType);
  const objectKey = formatObjectKey(id, name);
  await insertFile(database, {
    id,
    owner: file.owner,
    name,
    objectKey,
    temporaryUntil: new Date(clock() + INCOMING_MS),
    manageTokenHash: file.manageTokenHash ?? null,
    listed: file.listed ?? true,
  });
  try {
    const hashed = file.blake3 === true ? await hashedBody(whole) : null;
    const object = await store.put(objectKey, hashed?.body ?? whole, {
      contentType,
      contentDisposition: formatDisposition({ contentType, name }),
      maxBytes,
      ...(signal === undefined ? {} : { signal }),
    });
    const measures = await measureMedia({
      open: (range) => store.get(objectKey, range),
      bytes: object.bytes,
      declaredType,
      name,
    });
    const keptMs = keptFor(file, anonymousDays);
    const blake3 = hashed?.digest() ?? null;
    const temporaryUntil = keptMs === null ? null : new Date(clock() + keptMs);
    const stored = await completeFile(database, id, { object, measures, blake3, temporaryUntil });
    if (stored === null) throw new AppError('UNAVAILABLE', 'the file took too long to arrive');
    return stored;
  } catch (error) {
    await discard(parts, { id, objectKey });
    throw error;
  }
}

/** How long a file is kept that no work uses; null for ever. The results of tasks are attached to them. */
function keptFor({ owner, temporary, manageTokenHash }: NewFile, anonymousDays: number): number | null {
  if (temporary) return TEMPORARY_MS;
  const isUpload = owner === 'anon' && manageTokenHash !== undefined && manageTokenHash !== null;
  return isUpload && anonymousDays > 0 ? anonymousDays * DAY_MS : null;
}
