import { readFile } from 'node:fs/promises';

/** The documented operations of both services as data (test/documented-operations.json). */

/** One documented input. */
export interface Field {
  readonly name: string;
  /** Absent for the fields of a body. */
  readonly in?: 'query' | 'path';
  readonly type: string;
  readonly required: boolean;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  /** Documented values that exclude no others. */
  readonly known?: readonly string[];
  /** For people. */
  readonly note?: string;
}

export interface DocumentedBody {
  readonly type: 'application/json' | 'multipart/form-data' | 'application/x-www-form-urlencoded' | 'raw';
  readonly required: boolean;
  /** Absent for a raw body. */
  readonly fields?: readonly Field[];
  readonly additionalProperties?: boolean;
  /** Groups of fields of which one is needed. */
  readonly oneOf?: readonly (readonly string[])[];
  /** Media types that a file part may have, in words. */
  readonly format?: string;
}

export interface Documented {
  readonly service: 'media' | 'workflow';
  readonly section: string;
  readonly method: string;
  readonly path: string;
  readonly deprecated: boolean;
  readonly params: readonly Field[];
  readonly body?: DocumentedBody;
  /** Statuses that the document names. */
  readonly answers: readonly number[];
  /** Fields of the answer's data, in words; workflow service only. */
  readonly data?: string;
}

/** All 126, in the order of the documents. */
export const documented = JSON.parse(
  await readFile(new URL('../../documented-operations.json', import.meta.url), 'utf8'),
) as readonly Documented[];

/** Method and path: the name of an operation. */
export function toKey({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}

/** Media types that the file parts of a body may have, of words such as "image/* and audio/* only". */
export function acceptedTypes({ format }: DocumentedBody): readonly string[] {
  return format?.match(/[a-z]+\/(?:\*|\w+)/g) ?? [];
}
