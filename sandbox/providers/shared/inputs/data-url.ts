const DATA_URL = /^data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/=\s]+)$/;

/** The bytes of `data:image/...;base64,...`; null when the text is something else. */
export function parseImageDataUrl(value: unknown): { bytes: Buffer; contentType: string } | null {
  if (typeof value !== 'string') return null;
  const match = DATA_URL.exec(value);
  if (match === null) return null;
  const bytes = Buffer.from(match[2] ?? '', 'base64');
  return bytes.length === 0 ? null : { bytes, contentType: match[1] ?? '' };
}
