import type { IncomingMessage } from 'node:http';

import type { Logger } from '../../platform/process/logger.ts';
import type { Execution } from '../../rest-compat/replies/results.ts';
import type { IncomingFile } from '../../rest-compat/request/body/file-part.ts';
import { type FormBody, readFormBody } from '../../rest-compat/request/body/form.ts';
import { removeStored } from '../../rest-compat/request/upload.ts';
import type { UploadedFile } from '../../rest-compat/route/param.ts';

/** Forms that store one file for good, as both faces have one. */

interface FormCall extends Execution {
  readonly request: IncomingMessage;
  readonly settings: { readonly uploadMaxBytes: number };
  readonly logger: Logger;
}

interface FormOfOneFile<Stored, Answer> {
  /** Stores the part; `before` are the fields that came before it. */
  readonly store: (file: IncomingFile, before: ReadonlyMap<string, string>) => Promise<Stored>;
  /** What the whole form is answered; gets undefined where it has no such part. Throws where it is refused. */
  readonly accept: (stored: Stored | undefined, fields: FormBody['fields']) => Answer;
}

/** Reads a form of which the part `file` is kept, and the first alone. What a form has stored that breaks off or is refused is removed. */
export async function readFormOfOneFile<Stored extends UploadedFile, Answer>(
  call: FormCall,
  { store, accept }: FormOfOneFile<Stored, Answer>,
): Promise<Answer> {
  const storing: Promise<Stored>[] = [];
  try {
    const form = await readFormBody({
      request: call.request,
      fileMaxBytes: call.settings.uploadMaxBytes,
      async store(file, before) {
        if (file.field !== 'file' || storing.length > 0) return null;
        const stored = store(file, before);
        storing.push(stored);
        return stored;
      },
    });
    return accept(await storing[0], form.fields);
  } catch (error) {
    const stored = await storing[0]?.catch(() => undefined);
    if (stored !== undefined) await removeStored(call, stored);
    throw error;
  }
}
