/** What an input file must be for the work that takes it: by what it is measured to be, not by its name. Pure. */

/** `face`: who shall speak, in a picture or a video. `media`: whatever can be looked at or listened to. */
export type FileKind = 'picture' | 'face' | 'sound' | 'media';

interface KindRule {
  readonly type: RegExp;
  /** What to send instead. */
  readonly words: string;
}

/** Bytes of no known type: they may be of a form that is not recognised here, so whoever takes them judges. */
const UNKNOWN = 'application/octet-stream';

const rules: Readonly<Record<FileKind, KindRule>> = {
  picture: { type: /^image\//, words: 'an image' },
  face: { type: /^(?:image|video)\//, words: 'an image or a video' },
  // A video brings its soundtrack.
  sound: { type: /^(?:audio|video)\//, words: 'a recording' },
  media: { type: /^(?:audio|video|image)\//, words: 'an image, a recording or a video' },
};

/** Why a file of this type is none of the kind, and what to send instead; null when it may be one. */
export function wrongFormat(kind: FileKind, contentType: string): string | null {
  const { type, words } = rules[kind];
  if (contentType === UNKNOWN || type.test(contentType)) return null;
  return `wrong file format, send ${words}; this is ${contentType}`;
}
