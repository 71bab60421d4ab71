import type { Readable } from 'node:stream';

/** What an input file must be for the work that takes it: by what it is measured to be, not by its name. Pure. */

/** `audio` may be the soundtrack of a video. `any` is not checked here. */
export type FileKind = 'image' | 'imageOrVideo' | 'audio' | 'media' | 'mp4' | 'any';

interface KindRule {
  readonly type: RegExp;
  /** What to send instead. */
  readonly words: string;
}

/** Bytes of no known type: they may be of a form that is not recognised here, so the upstream judges. */
const UNKNOWN = 'application/octet-stream';

const rules: Readonly<Record<FileKind, KindRule>> = {
  image: { type: /^image\//, words: 'an image' },
  imageOrVideo: { type: /^(?:image|video)\//, words: 'an image or a video' },
  audio: { type: /^(?:audio|video)\//, words: 'a recording' },
  media: { type: /^(?:audio|video|image)\//, words: 'an image, a recording or a video' },
  mp4: { type: /^video\/mp4$/, words: 'an MP4 video' },
  any: { type: /./, words: 'a file' },
};

/** Why a file of this type is none of the kind, and what to send instead; null when it may be one. */
export function wrongFormat(kind: FileKind, contentType: string): string | null {
  const { type, words } = rules[kind];
  if (type.test(contentType) || (contentType === UNKNOWN && kind !== 'mp4')) return null;
  return `wrong file format, send ${words}; this is ${contentType}`;
}

/** Extensions of the files that loaders of models list. */
const MODEL_FILE = /\.(safetensors|sft|ckpt|pt|pth|bin|gguf|onnx|engine)$/i;

/** Whether a value of a ComfyUI graph names a model file. */
export function isModelFile(value: unknown): value is string {
  return typeof value === 'string' && MODEL_FILE.test(value);
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.+-]+)*;base64,/;

/** The type and the base64 of a data: address; null for every other address. */
export function readDataUrl(url: string): { readonly contentType: string; readonly data: string } | null {
  const [head, contentType] = DATA_URL.exec(url) ?? [];
  if (head === undefined || contentType === undefined) return null;
  return { contentType, data: url.slice(head.length) };
}

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
