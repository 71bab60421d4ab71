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
