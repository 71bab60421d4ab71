import { decodeBytes, type RecordedBody } from './exchange.ts';

/** The names of a form's texts and files. */
export interface FormNames {
  readonly names: readonly string[];
}

/** Reads a recorded form; null when the body is none, or was not kept. */
export async function formOf(body: RecordedBody, contentType: string): Promise<FormNames | null> {
  const bytes = decodeBytes(body);
  if (bytes === null || !/^(multipart\/form-data|application\/x-www-form-urlencoded)/i.test(contentType)) {
    return null;
  }
  try {
    const form = await new Response(new Uint8Array(bytes), {
      headers: { 'content-type': contentType },
    }).formData();
    return { names: [...new Set(form.keys())] };
  } catch {
    // A malformed form is the client's; it is replayed as it is.
    return null;
  }
}
