import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input.ts';

/** The URL from which Volcengine fetches a file: it accepts URLs only. Refused before anything is sent without one. */
export function addressFor(file: InputFile, field: string): string {
  if (file.publicUrl !== null) return file.publicUrl;
  const message = `${field}: volcengine fetches its inputs by itself and can't reach this server`;
  const cause = new Error('PUBLIC_URL must be a public https address, or files must lie in S3 at one');
  throw new UpstreamError('UNAVAILABLE', message, { retryable: false, field, cause });
}
