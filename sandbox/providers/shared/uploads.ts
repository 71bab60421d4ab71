import { randomUUID } from 'node:crypto';

import { bytes, empty } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject } from '../../http/wire.ts';
import type { WireRequest, WireRoute } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import { invalidField } from './fastapi.ts';
import { textOf } from './inputs/text-of.ts';

interface Store {
  readonly runner: JobRunner;
  readonly journal: Journal;
}

/**
 * Files of callers that are PUT to an address with a permission of its own (`PUT /upload/:id`) and found at another
 * (`GET /files/:id`). A file is a job without work, so that it is forgotten like one.
 */
export function uploadRoutes(
  store: Store,
  wire: {
    /** Where the two addresses are asked for, by content type. */
    readonly begin: string;
    /** The wire's own words for both. */
    readonly answer: (id: string, baseUrl: string) => Answer;
  },
): WireRoute[] {
  return [
    {
      method: 'POST',
      path: wire.begin,
      operation: 'upload',
      handle: async (request) => {
        const contentType = textOf(jsonObject(request)?.['content_type']);
        if (contentType === null) return invalidField(['content_type'], 'Field required', 'missing');
        return wire.answer(await createUpload(store, { contentType }), request.baseUrl);
      },
    },
    {
      method: 'PUT',
      path: '/upload/:id',
      operation: 'put',
      handle: (request) => receiveUpload(store, request),
    },
    {
      method: 'GET',
      path: '/files/:id',
      operation: 'file',
      handle: async ({ params }) => {
        const job = store.runner.get(params['id'] ?? '');
        const content = job === null ? null : await store.journal.readPicture(fileName(job.id));
        return content === null ? empty(404) : bytes(content, textOf(job?.input['contentType']) ?? '');
      },
    },
  ];
}

/** Makes a place for a file; what it is called with stays with it. */
export async function createUpload(
  { runner }: Store,
  facts: Readonly<Record<string, string>>,
): Promise<string> {
  const id = randomUUID();
  const input = { ...facts, pictures: [fileName(id)] };
  await runner.submit({ id, operation: 'file', reference: null, input, fault: null });
  return id;
}

/** Takes the bytes that belong to a place. */
export async function receiveUpload(
  { runner, journal }: Store,
  { params, body }: WireRequest,
): Promise<Answer> {
  const { id = '' } = params;
  if (runner.get(id)?.operation !== 'file') return empty(403);
  await journal.writePicture(fileName(id), body);
  return empty(200);
}

/** How the journal names the file of a place. */
export function fileName(id: string): string {
  return `${id}-input-0`;
}
