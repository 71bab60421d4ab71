const BY_ENDING: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  json: 'application/json',
  csv: 'text/csv',
  md: 'text/markdown',
  srt: 'application/x-subrip',
  vtt: 'text/vtt',
  svg: 'image/svg+xml',
  html: 'text/html',
  xml: 'application/xml',
};
const KNOWN = new Set(Object.values(BY_ENDING));

/** The type of a text: the declared one when it is known and the bytes are text, else by the file's extension. */
export function textTypeOf({
  head,
  bytes,
  declaredType,
  name,
  contentType,
}: {
  /** The first bytes. */
  readonly head: Buffer;
  readonly bytes: number;
  readonly declaredType: string | null;
  readonly name: string;
  /** The type of the first bytes, if known. */
  readonly contentType: string | undefined;
}): string | null {
  // XML is the only text format with a signature; which kind of XML it is, only its sender knows.
  if (contentType !== undefined && contentType !== 'application/xml') return null;
  if (!isText(head, bytes)) return null;
  const type = declaredAs(declaredType) ?? BY_ENDING[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? null;
  if (type === 'application/json' && !looksLikeJson(head, bytes)) return 'text/plain';
  return type;
}

function declaredAs(declaredType: string | null): string | null {
  const type = declaredType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return KNOWN.has(type) ? type : null;
}

/** Whether it is UTF-8 without control characters; a character may be cut at the end of the first bytes. */
function isText(head: Buffer, bytes: number): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: bytes > head.length });
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    return !/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text);
  } catch {
    return false;
  }
}

function looksLikeJson(head: Buffer, bytes: number): boolean {
  const text = head.toString();
  if (bytes > head.length) return /^\s*[[{"]/.test(text);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
