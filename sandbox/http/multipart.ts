import busboy from 'busboy';

import type { WireRequest } from './wire.ts';

/** A file of a form. */
interface FormFile {
  readonly field: string;
  readonly name: string | null;
  readonly type: string | null;
  readonly bytes: Buffer;
}

/** A multipart form, read whole (the request body is bounded already). */
export interface Form {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly FormFile[];
}

const LIMITS = { files: 20, fields: 50, fieldSize: 200_000 };

/** Reads a form; null when the body is none. */
export function readForm(request: WireRequest): Promise<Form | null> {
  return new Promise((resolve) => {
    const fields: Record<string, string> = {};
    const files: FormFile[] = [];
    try {
      const parser = busboy({
        headers: { 'content-type': request.headers['content-type'] ?? '' },
        limits: LIMITS,
      });
      parser.on('field', (name, value) => {
        fields[name] = value;
      });
      parser.on('file', (field, stream, info) => {
        const name = info.filename || null;
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        // One that breaks off is told by the parser's error as well; without a listener this one would end the process.
        stream.on('error', () => undefined);
        stream.on('end', () =>
          files.push({ field, name, type: info.mimeType || null, bytes: Buffer.concat(chunks) }),
        );
      });
      parser.on('error', () => resolve(null));
      parser.on('close', () => resolve({ fields, files }));
      parser.end(request.body);
    } catch {
      resolve(null); // busboy throws on other content types: the wire answers its own error
    }
  });
}
