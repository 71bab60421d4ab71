/** Members of a form that are files, with what each takes. */
export const ACCEPTED: Readonly<Record<string, string>> = {
  images: 'image/*',
  mask: 'image/*',
  image: 'image/*',
  firstFrame: 'image/*',
  lastFrame: 'image/*',
  video: 'video/*',
  source: 'video/*',
  audio: 'audio/*',
  sample: 'audio/*',
  media: 'image/*,audio/*,video/*',
};

/** Whether a field takes files of this type. */
export function accepts(accept: string, contentType: string): boolean {
  return accept
    .split(',')
    .some((one) => (one.endsWith('/*') ? contentType.startsWith(one.slice(0, -1)) : one === contentType));
}
