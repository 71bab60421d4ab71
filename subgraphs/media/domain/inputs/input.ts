import type { Readable } from 'node:stream';

/** An input file of stored work: one of ours by id, or a foreign URL the worker will fetch under the outbound rule. */
export type InputRef = { readonly fileId: string } | { readonly url: string };

/** An input file as providers take it: bytes by default; a public address only when PUBLIC_URL is public https. */
export interface InputFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Address at which the upstream can fetch it; null when it could not reach us. */
  readonly publicUrl: string | null;
  /** The same file in this provider's own storage, when it was uploaded there and is still kept. */
  readonly uploaded: { readonly id: string; readonly uri: string | null } | null;
  open(): Promise<Readable>;
}
