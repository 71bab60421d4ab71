import { randomUUID } from 'node:crypto';

import { bytes, empty, text, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest, type WireRoute } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import { invalidField } from './fastapi.ts';
import { readText } from './inputs.ts';

interface Store {
  readonly runner: JobRunner;
  readonly journal: Journal;
}

/**
 * Presigned uploads: a file is PUT to an unguessable URL (`PUT /upload/:id`) and served at another (`GET /files/:id`). It is
 * stored as a job without work, so that it is deleted like one.
 */
export function uploadRoutes(
  store: Store,
  wire: {
    /** Path of the request that creates an upload. */
    readonly begin: string;
    /** The wire's answer with both URLs. */
    readonly answer: (id: string, baseUrl: string) => Answer;
    /** A header that the upload's address was signed with: an upload without it is refused. */
    readonly signed?: { readonly name: string; readonly value: string };
  },
): WireRoute[] {
  return [
    {
      method: 'POST',
      path: wire.begin,
      operation: 'upload',
      handle: async (request) => {
        const contentType = readText(jsonObject(request)?.['content_type']);
        if (contentType === null) return invalidField(['content_type'], 'Field required', 'missing');
        return wire.answer(await createUpload(store, { contentType }), request.baseUrl);
      },
    },
    {
      method: 'PUT',
      path: '/upload/:id',
      operation: 'put',
      handle: async (request) => {
        const { signed } = wire;
        const isSigned = signed === undefined || request.headers[signed.name] === signed.value;
        return isSigned ? receiveUpload(store, request) : text('SignatureDoesNotMatch', 403);
      },
    },
    {
      method: 'GET',
      path: '/files/:id',
      operation: 'file',
      handle: async ({ params }) => {
        const job = store.runner.get(params['id'] ?? '');
        const content = job === null ? null : await store.journal.readImage(fileName(job.id));
        return content === null ? empty(404) : bytes(content, readText(job?.input['contentType']) ?? '');
      },
    },
  ];
}

/** Creates an upload; the facts are stored with it. */
export async function createUpload(
  { runner }: Store,
  facts: Readonly<Record<string, string>>,
): Promise<string> {
  const id = randomUUID();
  const input = { ...facts, pictures: [fileName(id)] };
  await runner.submit({ id, operation: 'file', reference: null, input, fault: null });
  return id;
}

/** Stores the bytes of an upload. */
export async function receiveUpload(
  { runner, journal }: Store,
  { params, body }: WireRequest,
): Promise<Answer> {
  const { id = '' } = params;
  if (runner.get(id)?.operation !== 'file') return empty(403);
  await journal.writeImage(fileName(id), body);
  return empty(200);
}

/** The journal's name of an uploaded file. */
export function fileName(id: string): string {
  return `${id}-input-0`;
}
