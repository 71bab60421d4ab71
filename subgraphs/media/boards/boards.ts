import type { Caller } from '../../../platform/access/caller.ts';
import type { StoredFile } from '../files/files.ts';

/** Boards that somebody puts their files on, and stars. Implemented by createBoards (service.ts). */
export interface BoardService {
  /** The caller's own, the oldest first; none of callers without a credential. */
  list(caller: Caller): Promise<readonly Board[]>;
  /** UNAUTHENTICATED without a caller; BAD_USER_INPUT for a wrong name or beyond MOST_BOARDS. */
  create(caller: Caller, name: string): Promise<Board>;
  /** NOT_FOUND for those of others, as in everything below. */
  rename(caller: Caller, id: string, name: string): Promise<Board>;
  /** The files stay. */
  remove(caller: Caller, id: string): Promise<Board>;
  /** Puts the caller's own files on a board, and takes them from another one when `from` names it. */
  put(
    caller: Caller,
    id: string,
    files: { readonly ids: readonly string[]; readonly from: string | null },
  ): Promise<Board>;
  take(caller: Caller, id: string, ids: readonly string[]): Promise<Board>;
  /** Makes the address of a board anew; the one before ends. */
  share(caller: Caller, id: string, seconds: number): Promise<Board>;
  unshare(caller: Caller, id: string): Promise<Board>;
  /** The board behind the token of an address; null when it has ended or was revoked. */
  shared(token: string): Promise<SharedBoard | null>;
  star(caller: Caller, ids: readonly string[], isStarred: boolean): Promise<readonly string[]>;
  /** Whether the caller has starred each of these files. */
  starred(caller: Caller, ids: readonly string[]): Promise<readonly boolean[]>;
}

/** A board. */
export interface Board {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly createdAt: Date;
  /** How many files are on it. */
  readonly count: number;
  /** The file that was put on it last. */
  readonly coverId: string | null;
  /** Its address to be passed on; null when there is none, or it has ended. */
  readonly share: { readonly url: string; readonly endsAt: Date } | null;
}

/** What somebody sees who was given the address of a board. */
export interface SharedBoard {
  readonly name: string;
  readonly endsAt: Date;
  readonly files: readonly SharedFile[];
}

/** A file on a shared board, by an address that ends with it, or after an hour. */
export type SharedFile = Pick<StoredFile, 'name' | 'contentType' | 'width' | 'height' | 'duration'> & {
  readonly url: string;
};

/** Most boards of one caller, files on one board, and files of one change. */
export const MOST_BOARDS = 200;
export const MOST_FILES = 1_000;
export const MOST_AT_ONCE = 500;
