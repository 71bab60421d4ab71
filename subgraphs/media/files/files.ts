import type { Readable } from 'node:stream';

import type { Caller } from '../../../platform/access/caller.ts';
import type { AnyTransaction } from '../../../platform/queue/queue.ts';

/** Stored files and their measured facts. Implemented by createFileService (service.ts). */
export interface FileService {
  /**
   * Streams a body into the object store, measures it and writes its row. Temporary files disappear after an hour
   * unless claimed. PAYLOAD_TOO_LARGE past the limit, and nothing is stored.
   */
  store(file: NewFile): Promise<StoredFile>;
  /** In the order of the ids; null where there is none. No check of ownership: `opens` says who may use it by its id. */
  byIds(ids: readonly string[]): Promise<readonly (StoredFile | null)[]>;
  /** Newest first, the caller's own; empty for anonymous callers. Admins and Kiln itself see all. Temporary files are left out. */
  list(
    caller: Caller,
    filter: FileFilter,
    page: { readonly first: number; readonly after: string | null },
  ): Promise<FilePage>;
  /** The caller's newest file with these bytes, among those whose BLAKE3 is known; null where there is none. */
  byBlake3(caller: Caller, blake3: string): Promise<StoredFile | null>;
  /**
   * Whether a caller may use a file by its id alone. While addresses are permanent the id is one; with FILES_URL_TTL for
   * the owner, administrators and service keys. Nobody's file opens as long as the first address of it is valid.
   */
  opens(caller: Caller, file: StoredFile): boolean;
  /**
   * Makes temporary files of the owner of the work permanent, in the transaction of the work that uses them; those of
   * others stay temporary. Unknown ids: BAD_USER_INPUT.
   */
  claim(transaction: AnyTransaction, ids: readonly string[], owner: string): Promise<void>;
  /** Links outputs to the task that made them, in the transaction that ends its step. */
  attach(transaction: AnyTransaction, ids: readonly string[], task: MakingTask): Promise<void>;
  open(id: string, range?: { readonly start: number; readonly end: number }): Promise<Readable>;
  /** The id behind one of our own file URLs, whatever the host; null for a foreign URL. */
  idOfUrl(url: string): string | null;
  /** The stable public address, PUBLIC_URL/files/{id}/{name}; with `cdn`, the CDN's when one is configured. */
  formatUrl(file: StoredFile, options?: { readonly cdn?: boolean }): string;
  readonly shares: ShareService;
  /** The address of a WebP at most about so many pixels wide; null for files that are no image. */
  formatThumbnailUrl(file: StoredFile, width: number): string | null;
  /** Address of images of a video at even distances, in one; null for everything else. */
  formatSpritesheetUrl(file: StoredFile): string | null;
  /** Removes row and bytes. NOT_FOUND for others' files, and for nobody's without the token of whoever made them. */
  remove(caller: Caller, id: string, manageToken?: string | null): Promise<StoredFile>;
  /** Removes temporary files past their hour, at most `limit`; answers how many, 0 while the store is away. */
  prune(limit: number): Promise<number>;
}

/** An address of a file that was passed on. */
export interface Share {
  readonly id: string;
  readonly mediaId: string;
  /** Who made it. */
  readonly owner: string;
  readonly url: string;
  readonly createdAt: Date;
  readonly endsAt: Date;
}

/** Addresses to be passed on: made, listed and ended by who may use the file. */
export interface ShareService {
  /** NOT_FOUND for a file that the caller may not use; BAD_USER_INPUT for a wrong time, or for more than SHARE_LIMIT. */
  share(caller: Caller, mediaId: string, seconds: number): Promise<Share>;
  /** The caller's own that have not ended, newest first; none of callers without a credential. */
  list(caller: Caller, mediaId: string | null): Promise<readonly Share[]>;
  /** Ends one at once. NOT_FOUND for those of others. */
  revoke(caller: Caller, id: string): Promise<Share>;
}

/** A file to be stored, and its owner. */
export interface NewFile {
  /** Its id, where it was chosen before (newId). */
  readonly id?: string;
  readonly owner: string;
  readonly body: AsyncIterable<Uint8Array>;
  /** File name as the caller sent it; only its safe tail is stored, with the extension of its type when it has none. */
  readonly name: string;
  /** The declared type; the measured one wins. */
  readonly declaredType: string | null;
  readonly temporary: boolean;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** Of the token that may delete it, for a caller without a credential. */
  readonly manageTokenHash?: string | null;
  /** Whether lists show it; true unless said otherwise. */
  readonly listed?: boolean;
  /** Whether its BLAKE3 is computed beside its SHA-256; false unless said otherwise. */
  readonly blake3?: boolean;
}

/** The task that made a file, and the hash of the token that may delete what it makes. */
export interface MakingTask {
  readonly id: string;
  readonly manageTokenHash: string | null;
}

/** A stored file with its measured facts. */
export interface StoredFile {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  /** Measured, not assumed. */
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Hexadecimal; null where nobody has asked for it when it was stored. */
  readonly blake3: string | null;
  readonly width: number | null;
  readonly height: number | null;
  /** Seconds. */
  readonly duration: number | null;
  /** The task that made it; null for uploads. */
  readonly taskId: string | null;
  readonly createdAt: Date;
  /** Deletes it. Only in the answer to an upload of a caller without a credential. */
  readonly manageToken?: string;
}

/** Every kind of file that lists tell apart: the first part of its type, or none of these. */
export const mediaKinds = ['IMAGE', 'VIDEO', 'AUDIO', 'OTHER'] as const;

/** A kind of file. */
export type MediaKind = (typeof mediaKinds)[number];

/** Filter of a list of files; absent members do not filter. The model, generator and text are those of its task. */
export interface FileFilter {
  readonly kinds?: readonly MediaKind[];
  readonly generator?: string;
  readonly model?: string;
  readonly text?: string;
  /** `usr_...`, `key_...` or `anon`; within what the caller may list. */
  readonly owner?: string;
  /** On this board of the caller. */
  readonly board?: string;
  /** Starred by the caller, or not. */
  readonly starred?: boolean;
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
}

/** A page of files, newest first. */
export interface FilePage {
  readonly files: readonly StoredFile[];
  readonly hasNextPage: boolean;
  /** Counts the files of all pages. */
  readonly count: () => Promise<number>;
}

/** A file and the key of its bytes in the object store. */
export interface LocatedFile extends StoredFile {
  readonly objectKey: string;
}

/** What serving files (serve.ts) needs beyond the service. */
export interface FileAccess {
  /** Null where there is none. */
  locate(id: string): Promise<LocatedFile | null>;
  /** The file that a shared address stands for; `ended` when its time is over, null when it is none or was revoked. */
  shared(token: string): Promise<LocatedFile | 'ended' | null>;
  /** Whether the query of an address lets its bearer in: always while addresses are permanent, else signed and in time. */
  admits(id: string, query: URLSearchParams): boolean;
}
